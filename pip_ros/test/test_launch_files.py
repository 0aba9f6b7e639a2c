"""Launch files: their arguments, scopes, inclusions and mistakes."""

import os
import subprocess
import sys

import pytest
from commands import ros2, write_launch_file

ARGUMENTS = """
DeclareLaunchArgument("task", default_value="reach", description="What to do.", choices=["reach", "push"]),
DeclareLaunchArgument("seed", description="Where chance begins"),
DeclareLaunchArgument("run_dir", default_value=["runs/", LaunchConfiguration("task")]),
LogInfo(msg=["task=", LaunchConfiguration("task"), " seed=", LaunchConfiguration("seed")]),
LogInfo(msg=["run_dir=", PathJoinSubstitution([LaunchConfiguration("run_dir"), "x"])]),
"""


def test_arguments_take_given_and_default_values(launch_file):
    code, output = ros2("launch", launch_file(ARGUMENTS), "seed:=7", "task:=push")
    assert code == 0
    assert "[INFO] [launch.user]: task=push seed=7\n" in output
    assert "run_dir=runs/push/x\n" in output


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([], "missing required argument 'seed' (description: 'Where chance begins')"),
        (["seed:=7", "task:=dance"], "provided value \"dance\" is not valid. Valid options are: ['reach', 'push']"),
        (["seed=7"], "malformed launch argument 'seed=7', expected format '<name>:=<value>'"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_starts(launch_file, given, complaint):
    code, output = ros2("launch", launch_file(ARGUMENTS), *given)
    assert code == 1
    assert complaint in output
    assert "task=" not in output.replace("seed=7'", "")


def test_arguments_are_shown_also_of_included_files_and_nothing_is_launched(launch_file, tmp_path):
    launch_file("DeclareLaunchArgument('inner', default_value='1'),", name="inner.launch.py")
    outer = launch_file(
        f"""{ARGUMENTS}
IncludeLaunchDescription(PythonLaunchDescriptionSource({str(tmp_path / "inner.launch.py")!r})),
GroupAction([DeclareLaunchArgument("sometimes", default_value="1")], condition=IfCondition("true")),
"""
    )
    code, output = ros2("launch", "--show-args", outer)
    assert code == 0
    assert "'task':\n        What to do. Valid choices are: ['reach', 'push']\n        (default: 'reach')" in output
    assert "'seed':\n        Where chance begins\n" in output
    assert "(default: 'runs/' + LaunchConfig('task'))" in output
    assert "'inner':\n" in output
    assert "'sometimes':*\n" in output
    assert "No arguments." in ros2("launch", "-s", launch_file("", name="none.launch.py"))[1]


def test_inclusion_passes_arguments(launch_file, tmp_path):
    said = """DeclareLaunchArgument("who"), LogInfo(msg=["hello ", LaunchConfiguration("who")]),"""
    inner = launch_file(said, name="inner.launch.py")
    include = f"IncludeLaunchDescription(PythonLaunchDescriptionSource({str(inner)!r})"
    passing = f"""{include}, launch_arguments={{"who": LaunchConfiguration("me")}}.items()),"""
    code, output = ros2("launch", launch_file(f'SetLaunchConfiguration("me", "outer"), {passing}'))
    assert code == 0
    assert "hello outer\n" in output

    # As in genuine launch, a configuration of that name is no argument.
    code, output = ros2("launch", launch_file(f'SetLaunchConfiguration("who", "outer"), {include}),'))
    assert code == 1
    assert "missing required argument 'who'" in output


def test_a_group_forgets_what_it_set_and_conditions_choose(launch_file):
    file = launch_file(
        """
        DeclareLaunchArgument("gui", default_value="false"),
        SetLaunchConfiguration("x", "outer"),
        GroupAction([
            SetLaunchConfiguration("x", "inner"),
            SetEnvironmentVariable("LAUNCH_TEST_X", "inner"),
            LogInfo(msg=["within ", LaunchConfiguration("x")]),
            python("import os; print('inside', os.environ['LAUNCH_TEST_X'])"),
        ]),
        LogInfo(msg=["after ", LaunchConfiguration("x")]),
        python("import os; print('outside', os.environ.get('LAUNCH_TEST_X'))"),
        LogInfo(msg="with gui", condition=IfCondition(LaunchConfiguration("gui"))),
        LogInfo(msg="without gui", condition=UnlessCondition(LaunchConfiguration("gui"))),
        """
    )
    code, output = ros2("launch", file, "gui:=True")
    assert code == 0
    for text in ("within inner", "inside inner", "after outer", "outside None", "with gui"):
        assert f"{text}\n" in output
    assert "without gui" not in output
    assert "without gui" in ros2("launch", file)[1]
    code, output = ros2("launch", file, "gui:=perhaps")
    assert (code, "got 'perhaps'" in output) == (1, True)


def test_an_opaque_function_decides_from_arguments(launch_file):
    several = """
    def several(context, word, end):
        count = int(LaunchConfiguration("count").perform(context))
        return [LogInfo(msg=f"{word} {i}{end}") for i in range(count)]
    """
    entities = """
    DeclareLaunchArgument("count", default_value="2"),
    OpaqueFunction(function=several, args=["number"], kwargs={"end": "!"}),
    """
    code, output = ros2("launch", launch_file(entities, several), "count:=3")
    assert code == 0
    assert [f"number {i}!" in output for i in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def generate_launch_description():\n    raise KeyError('my mistake')\n", "my mistake"),
        ("this is no python\n", "invalid syntax"),
        ("x = 1\n", "generate_launch_description"),
    ],
)
def test_a_broken_launch_file_is_reported_readably(tmp_path, text, complaint):
    file = tmp_path / "broken.launch.py"
    file.write_text(text)
    code, output = ros2("launch", file)
    assert code == 1
    assert complaint in output
    assert "Traceback" not in output
    assert "Traceback" in ros2("launch", "--debug", file)[1]


def test_a_launch_file_of_a_package_is_found_by_name(demo, tmp_path):
    hello = 'LogInfo(msg=["hello of ", FindPackageShare("demo")]),'
    write_launch_file(demo / "share/demo/launch/hello.launch.py", hello)
    code, output = ros2("launch", "demo", "hello.launch.py")
    assert code == 0
    assert f"hello of {demo}/share/demo\n" in output
    for words, complaint in (
        (("demo", "other.launch.py"), "file 'other.launch.py' was not found in the share directory of package 'demo'"),
        (("no_such_package", "hello.launch.py"), "Package 'no_such_package' not found"),
        ((tmp_path / "absent.launch.py",), f"launch file '{tmp_path / 'absent.launch.py'}' does not exist"),
    ):
        code, output = ros2("launch", *words)
        assert code == 1
        assert complaint in output


def test_packages_are_found_where_nothing_says_where_they_are():
    unset = {"AMENT_PREFIX_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH"}
    env = {name: value for name, value in os.environ.items() if name not in unset}
    code = "import os; print(os.environ['AMENT_PREFIX_PATH'])"
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert told.strip() == sys.prefix
