"""Nodes: real ones, which tell what name, namespace, parameters and remappings they were given."""

import json
import sys

import pytest
from launching import beyond_genuine, run_launch, write_launch_file

TELLING_NODE = f"""#!{sys.executable}
import json, sys
import rclpy
from rclpy.node import Node

rclpy.init()
node = Node("unnamed", automatically_declare_parameters_from_overrides=True)
parameters = {{name: parameter.value for name, parameter in node._parameters.items()}}
print("TOLD", json.dumps({{
    "name": node.get_fully_qualified_name(),
    "topic": node.resolve_topic_name("chatter"),
    "parameters": {{k: list(v) if hasattr(v, "tolist") else v for k, v in parameters.items()}},
    "arguments": sys.argv[1:],
}}), flush=True)
node.destroy_node()
rclpy.shutdown()
"""
OWN = {"start_type_description_service", "use_sim_time"}


@pytest.fixture
def tell(tmp_path, monkeypatch):
    """Launch nodes of a package `demo`; give what each told."""
    prefix = tmp_path / "prefix"
    for folder in ("share/ament_index/resource_index/packages", "lib/demo", "share/demo/config"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages/demo").touch()
    executable = prefix / "lib/demo/teller"
    executable.write_text(TELLING_NODE)
    executable.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{sys.prefix}")

    def launch(entities, *arguments):
        before = (
            "def teller(**kwargs):\n    return Node(package='demo', executable='teller', output='screen', **kwargs)"
        )
        code, output = run_launch(write_launch_file(tmp_path / "test.launch.py", entities, before), *arguments)
        assert code == 0, output
        told = {}
        for line in output.splitlines():
            label, separator, text = line.partition(" TOLD ")
            if separator:
                told[label] = json.loads(text)
                values = told[label]["parameters"]
                told[label]["parameters"] = {name: values[name] for name in set(values) - OWN}
        return [told[label] for label in sorted(told)]

    return launch


def test_node_is_found_in_its_package_and_named(tell):
    default, named = tell("teller(), teller(name='arm', namespace='left', arguments=['--speed', '3']),")
    assert default["name"] == "/unnamed"
    assert named["name"] == "/left/arm"
    assert named["topic"] == "/left/chatter"
    assert named["arguments"][:2] == ["--speed", "3"]


def test_names_come_from_arguments(tell):
    (told,) = tell(
        """
        DeclareLaunchArgument("namespace", default_value="ompo"),
        teller(name=["arm_", LaunchConfiguration("which")], namespace=LaunchConfiguration("namespace")),
        """,
        "which:=7",
    )
    assert told["name"] == "/ompo/arm_7"


def test_groups_push_namespaces(tell):
    told = tell(
        """
        GroupAction([
            PushRosNamespace("outer"),
            GroupAction([PushRosNamespace("inner"), teller(name="a")]),
            teller(name="b"),
            teller(name="c", namespace="own"),
            teller(name="d", namespace="/absolute"),
        ]),
        teller(name="e"),
        """
    )
    assert [one["name"] for one in told] == ["/outer/inner/a", "/outer/b", "/outer/own/c", "/absolute/d", "/e"]


def test_parameters_keep_their_types(tell):
    (told,) = tell(
        """
        SetLaunchConfiguration("rate", "25.0"),
        SetLaunchConfiguration("flag", "true"),
        SetLaunchConfiguration("version", "1.0"),
        SetLaunchConfiguration("list", "[1, 2]"),
        teller(name="x", parameters=[{
            "whole": 3, "fraction": 0.5, "truth": True, "text": "true", "words": ["a", "b"], "numbers": [1, 2.5],
            "rate": LaunchConfiguration("rate"), "flag": LaunchConfiguration("flag"),
            "list": LaunchConfiguration("list"),
            "path": [LaunchConfiguration("version"), "/x"],
            "version": ParameterValue(LaunchConfiguration("version"), value_type=str),
            "nested": {"deep": {"value": 1}},
        }]),
        """
    )
    assert told["parameters"] == {
        "whole": 3,
        "fraction": 0.5,
        "truth": True,
        "text": "true",
        "words": ["a", "b"],
        "numbers": [1.0, 2.5],
        "rate": 25.0,
        "flag": True,
        "list": [1, 2],
        "path": "1.0/x",
        "version": "1.0",
        "nested.deep.value": 1,
    }


def test_later_parameters_override_files_and_files_choose_nodes(tell, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(
        """
/**:
  ros__parameters: {a: 1, b: 1}
/ns/x:
  ros__parameters: {only_x: 5}
/ns/y:
  ros__parameters: {only_y: 5}
"""
    )
    (told,) = tell(
        "teller(name='x', namespace='ns', parameters=[LaunchConfiguration('params_file'), {'b': 2}]),",
        f"params_file:={file}",
    )
    assert told["parameters"] == {"a": 1, "b": 2, "only_x": 5}


def test_parameter_file_may_hold_substitutions(tell, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    robot: $(var robot)\n    home: $(env LAUNCH_TEST_HOME nowhere)\n    raw: 1\n"
    )
    (told,) = tell(
        f"""
        SetLaunchConfiguration("robot", "panda"),
        teller(parameters=[ParameterFile({str(file)!r}, allow_substs=True)]),
        """
    )
    assert told["parameters"] == {"robot": "panda", "home": "nowhere", "raw": 1}


def test_scope_sets_parameters_and_remaps(tell):
    inside, outside = tell(
        """
        GroupAction([
            SetParameter("rate", 10), SetParameter("own", 1), SetRemap("chatter", "talk"),
            teller(name="a", parameters=[{"own": 2}]),
        ]),
        teller(name="b"),
        """
    )
    assert inside["parameters"] == {"rate": 10, "own": 2}
    assert inside["topic"] == "/talk"
    assert outside["parameters"] == {}
    assert outside["topic"] == "/chatter"


def test_remappings_and_ros_arguments_are_passed(tell):
    (told,) = tell(
        """
        teller(remappings=[("chatter", ["to/", "talk"]), ("other", "x")], namespace="n",
               ros_arguments=["--log-level", "debug"]),
        """
    )
    assert told["topic"] == "/n/to/talk"
    assert told["arguments"][:3] == ["--ros-args", "--log-level", "debug"]


@pytest.mark.parametrize(
    ("entities", "complaint"),
    [
        ("Node(package='no_such_package', executable='x'),", "no_such_package"),
        ("Node(package='demo', executable='absent'),", "executable 'absent' not found on the libexec directory"),
        ("Node(package='demo', executable='teller', parameters=[{'x': [1, 'a', LaunchConfiguration('y')]}]),", ""),
    ],
)
def test_mistakes_are_named(tell, tmp_path, entities, complaint):
    code, output = run_launch(write_launch_file(tmp_path / "bad.launch.py", entities))
    assert code == 1
    assert complaint in output


def test_name_that_no_node_can_have_is_refused(tell, tmp_path):
    file = write_launch_file(tmp_path / "bad.launch.py", "Node(package='demo', executable='teller', name='9 lives'),")
    code, output = run_launch(file)
    assert code == 1
    assert "node name" in output
    assert "process started" not in output


@beyond_genuine
def test_no_temporary_parameter_files_are_left(tell, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    (told,) = tell("teller(parameters=[{'x': 1}]),")
    assert told["parameters"] == {"x": 1}
    assert list(temporary.glob("launch_params_*")) == []
