"""Nodes: real ones, which report what name, namespace, parameters and remappings they were given."""

import json

import pytest
from commands import ros2, write_launch_file

TELLER = "def teller(**kwargs):\n    return Node(package='demo', executable='teller', output='screen', **kwargs)"


@pytest.fixture
def tell(demo, tmp_path, monkeypatch):
    """Launch nodes of the package `demo`; give what each reported."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def launch(entities, *arguments):
        code, output = ros2("launch", write_launch_file(tmp_path / "test.launch.py", entities, TELLER), *arguments)
        assert code == 0, output
        told = {
            line.split()[0]: json.loads(line.split(" TOLD ")[1]) for line in output.splitlines() if " TOLD " in line
        }
        return [told[label] for label in sorted(told)]

    return launch


def test_names_come_from_the_file_the_group_and_arguments(tell):
    told = tell(
        """
        GroupAction([
            PushRosNamespace("outer"),
            GroupAction([PushRosNamespace(LaunchConfiguration("inner")), teller(name=["a_", "b"])]),
            teller(arguments=["--speed", "3"]),
            teller(name="c", namespace="own", remappings=[("chatter", ["to/", "talk"])]),
            teller(name="d", namespace="/absolute"),
        ]),
        teller(),
        """,
        "inner:=in",
    )
    names = [one["name"] for one in told]
    assert names == ["/outer/in/a_b", "/outer/unnamed", "/outer/own/c", "/absolute/d", "/unnamed"]
    assert told[1]["arguments"][:2] == ["--speed", "3"]
    assert [one["topic"] for one in told[:3]] == ["/outer/in/chatter", "/outer/chatter", "/outer/own/to/talk"]


def test_parameters_keep_their_types_and_leave_no_file(tell, tmp_path):
    (told,) = tell(
        """
        SetLaunchConfiguration("rate", "25.0"),
        SetLaunchConfiguration("flag", "true"),
        teller(name="x", parameters=[{
            "whole": 3, "fraction": 0.5, "truth": True, "text": "true", "words": ["a", "b"], "numbers": [1, 2.5],
            "rate": LaunchConfiguration("rate"), "flag": LaunchConfiguration("flag"),
            "path": [LaunchConfiguration("rate"), "/x"],
            "nested": {"deep": {"value": 1}},
        }]),
        """
    )
    plain = {"whole": 3, "fraction": 0.5, "truth": True, "text": "true", "words": ["a", "b"], "numbers": [1.0, 2.5]}
    performed = {"rate": 25.0, "flag": True, "path": "25.0/x", "nested.deep.value": 1}
    assert told["parameters"] == {**plain, **performed}
    assert list(tmp_path.glob("launch_params_*")) == []


def test_later_parameters_override_files_and_files_choose_nodes(tell, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(
        "/**:\n  ros__parameters: {a: 1, b: 1}\n"
        "/ns/x:\n  ros__parameters: {c: 1, only_x: 5}\n"
        "/ns/y:\n  ros__parameters: {only_y: 5}\n"
    )
    entities = "teller(name='x', namespace='ns', parameters=[LaunchConfiguration('file'), {'b': 2, 'c': 2}]),"
    (told,) = tell(entities, f"file:={file}")
    assert told["parameters"] == {"a": 1, "b": 2, "c": 2, "only_x": 5}


@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        ("Node(package='no_such_package', executable='x'),", "no_such_package"),
        ("Node(package='demo', executable='absent'),", "executable 'absent' not found on the libexec directory"),
        ("Node(package='demo', executable='teller', parameters=[{'x': [1, 'a']}]),", "parameter 'x': expected"),
        ("Node(package='demo', executable='teller', name='9 lives'),", "no valid node name"),
        ("PushRosNamespace('9 lives'),", "no valid namespace"),
    ],
)
def test_mistakes_are_named_and_nothing_starts(demo, launch_file, node, complaint):
    code, output = ros2("launch", launch_file(node))
    assert code == 1
    assert complaint in output
    assert "process started" not in output
