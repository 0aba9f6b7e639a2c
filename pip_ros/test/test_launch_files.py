"""Launch files: their arguments, scopes, inclusions and mistakes."""

import pytest
from launching import beyond_genuine, run_launch, write_launch_file


@pytest.fixture
def launch_file(tmp_path):
    return lambda entities, before="", name="test.launch.py": write_launch_file(tmp_path / name, entities, before)


ARGUMENTS = """
DeclareLaunchArgument("task", default_value="reach", description="What to do.", choices=["reach", "push"]),
DeclareLaunchArgument("seed", description="Where chance begins"),
DeclareLaunchArgument("run_dir", default_value=["runs/", LaunchConfiguration("task")]),
LogInfo(msg=["task=", LaunchConfiguration("task"), " seed=", LaunchConfiguration("seed")]),
LogInfo(msg=["run_dir=", LaunchConfiguration("run_dir")]),
"""


def test_arguments_take_given_and_default_values(launch_file):
    code, output = run_launch(launch_file(ARGUMENTS), "seed:=7", "task:=push")
    assert code == 0
    assert "[INFO] [launch.user]: task=push seed=7" in output
    assert "run_dir=runs/push" in output


def test_required_argument_is_asked_for(launch_file):
    code, output = run_launch(launch_file(ARGUMENTS))
    assert code == 1
    assert "seed" in output
    assert "Where chance begins" in output
    assert "task=" not in output


def test_value_that_is_no_choice_is_refused(launch_file):
    code, output = run_launch(launch_file(ARGUMENTS), "seed:=7", "task:=dance")
    assert code == 1
    assert '"dance"' in output
    assert "['reach', 'push']" in output


def test_malformed_argument_is_refused(launch_file):
    code, output = run_launch(launch_file(ARGUMENTS), "seed=7")
    assert code == 1
    assert "malformed launch argument 'seed=7', expected format '<name>:=<value>'" in output


def test_arguments_are_shown_and_nothing_is_launched(launch_file):
    code, output = run_launch("--show-args", launch_file(ARGUMENTS + "python('print(1)'),"))
    assert code == 0
    assert "'task':\n        What to do. Valid choices are: ['reach', 'push']\n        (default: 'reach')" in output
    assert "'seed':\n        Where chance begins\n" in output
    assert "(default: 'runs/' + LaunchConfig('task'))" in output
    assert "process started" not in output


def test_arguments_of_included_files_and_conditional_ones_are_shown(launch_file, tmp_path):
    launch_file("DeclareLaunchArgument('inner', default_value='1'),", name="inner.launch.py")
    outer = launch_file(
        f"""
        IncludeLaunchDescription(PythonLaunchDescriptionSource({str(tmp_path / "inner.launch.py")!r})),
        GroupAction([DeclareLaunchArgument("sometimes", default_value="1")], condition=IfCondition("true")),
        """
    )
    _, output = run_launch("-s", outer)
    assert "'inner':\n" in output
    assert "'sometimes':*\n" in output


def test_file_without_arguments_says_so(launch_file):
    assert "No arguments." in run_launch("-s", launch_file(""))[1]


def test_inclusion_passes_arguments_and_knows_its_folder(launch_file, tmp_path):
    (tmp_path / "sub").mkdir()
    write_launch_file(
        tmp_path / "sub" / "inner.launch.py",
        """
        DeclareLaunchArgument("who"),
        LogInfo(msg=["hello ", LaunchConfiguration("who"), " from ", ThisLaunchFileDir()]),
        """,
    )
    outer = launch_file(
        """
        SetLaunchConfiguration("me", "outer"),
        LogInfo(msg=["outer is ", ThisLaunchFileDir()]),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource([ThisLaunchFileDir(), "/sub/inner.launch.py"]),
            launch_arguments={"who": LaunchConfiguration("me")}.items(),
        ),
        """
    )
    code, output = run_launch(outer)
    assert code == 0
    assert f"outer is {tmp_path}\n" in output
    assert f"hello outer from {tmp_path / 'sub'}\n" in output


@beyond_genuine
def test_folder_is_that_of_the_outer_file_again_after_an_inclusion(launch_file, tmp_path):
    (tmp_path / "sub").mkdir()
    write_launch_file(tmp_path / "sub" / "inner.launch.py", "")
    outer = launch_file(
        """
        IncludeLaunchDescription(PythonLaunchDescriptionSource([ThisLaunchFileDir(), "/sub/inner.launch.py"])),
        LogInfo(msg=["back in ", ThisLaunchFileDir()]),
        """
    )
    assert f"back in {tmp_path}\n" in run_launch(outer)[1]


def test_inclusion_without_a_required_argument_is_refused(launch_file, tmp_path):
    launch_file("DeclareLaunchArgument('who', description='whom to greet'),", name="inner.launch.py")
    code, output = run_launch(
        launch_file(f"IncludeLaunchDescription(PythonLaunchDescriptionSource({str(tmp_path / 'inner.launch.py')!r})),")
    )
    assert code == 1
    assert "missing required argument 'who' (description: 'whom to greet')" in output


def test_scoped_group_forgets_what_it_set_and_unscoped_does_not(launch_file):
    code, output = run_launch(
        launch_file(
            """
            SetLaunchConfiguration("x", "outer"),
            GroupAction([
                SetLaunchConfiguration("x", "inner"),
                SetEnvironmentVariable("LAUNCH_TEST_X", "inner"),
                LogInfo(msg=["within ", LaunchConfiguration("x"), EnvironmentVariable("LAUNCH_TEST_X")]),
            ]),
            LogInfo(msg=["after ", LaunchConfiguration("x"), EnvironmentVariable("LAUNCH_TEST_X", default_value="-")]),
            GroupAction([SetLaunchConfiguration("x", "kept")], scoped=False),
            LogInfo(msg=["unscoped ", LaunchConfiguration("x")]),
            GroupAction([LogInfo(msg="never")], condition=UnlessCondition("true")),
            """
        )
    )
    assert code == 0
    assert "within innerinner\n" in output
    assert "after outer-\n" in output
    assert "unscoped kept\n" in output
    assert "never" not in output


def test_conditions_choose_actions(launch_file):
    file = launch_file(
        """
        DeclareLaunchArgument("gui", default_value="false"),
        LogInfo(msg="with gui", condition=IfCondition(LaunchConfiguration("gui"))),
        LogInfo(msg="without gui", condition=UnlessCondition(LaunchConfiguration("gui"))),
        """
    )
    assert "without gui" in run_launch(file)[1]
    with_gui = run_launch(file, "gui:=True")[1]
    assert "with gui" in with_gui
    assert "without gui" not in with_gui


def test_opaque_function_decides_from_arguments(launch_file):
    code, output = run_launch(
        launch_file(
            """
            DeclareLaunchArgument("count", default_value="2"),
            OpaqueFunction(function=several, args=["number"], kwargs={"end": "!"}),
            """,
            before="""
            def several(context, word, end):
                count = int(LaunchConfiguration("count").perform(context))
                return [LogInfo(msg=f"{word} {i}{end}") for i in range(count)]
            """,
        ),
        "count:=3",
    )
    assert code == 0
    assert [f"number {i}!" in output for i in range(4)] == [True, True, True, False]


def test_environment_is_set_and_unset_for_processes(launch_file):
    _, output = run_launch(
        launch_file(
            """
            SetEnvironmentVariable("LAUNCH_TEST_A", ["se", "t"]),
            SetEnvironmentVariable("LAUNCH_TEST_B", "gone"),
            UnsetEnvironmentVariable("LAUNCH_TEST_B"),
            python("import os; print({k: v for k, v in os.environ.items() if 'LAUNCH_TEST' in k})"),
            """
        )
    )
    assert "[child-1] {'LAUNCH_TEST_A': 'set'}" in output


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def generate_launch_description():\n    raise KeyError('my mistake')\n", "my mistake"),
        ("this is no python\n", "invalid syntax"),
        ("x = 1\n", "generate_launch_description"),
    ],
)
def test_broken_launch_file_is_reported_readably(tmp_path, text, complaint):
    file = tmp_path / "broken.launch.py"
    file.write_text(text)
    code, output = run_launch(file)
    assert code == 1
    assert complaint in output
    assert "Traceback" not in output


def test_debug_adds_the_traceback(tmp_path):
    file = tmp_path / "broken.launch.py"
    file.write_text("def generate_launch_description():\n    raise KeyError('my mistake')\n")
    code, output = run_launch("--debug", file)
    assert code == 1
    assert "Traceback" in output
    assert "my mistake" in output


def test_substitution_that_fails_stops_what_was_launched(launch_file):
    code, output = run_launch(
        launch_file("python('import time; time.sleep(60)'), LogInfo(msg=LaunchConfiguration('absent')),")
    )
    assert code == 1
    assert "launch configuration 'absent' does not exist" in output


def test_launch_file_of_a_package_is_found_by_name(tmp_path, monkeypatch):
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "demo").touch()
    (tmp_path / "share" / "demo" / "launch").mkdir(parents=True)
    write_launch_file(
        tmp_path / "share" / "demo" / "launch" / "hello.launch.py",
        """
        DeclareLaunchArgument("who"),
        LogInfo(msg=["hello ", LaunchConfiguration("who"), " of ", FindPackageShare("demo")]),
        """,
    )
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    code, output = run_launch("demo", "hello.launch.py", "who:=world")
    assert code == 0
    assert f"hello world of {tmp_path}/share/demo" in output
    code, output = run_launch("demo", "other.launch.py")
    assert code == 1
    assert "file 'other.launch.py' was not found in the share directory of package 'demo'" in output
    code, output = run_launch("no_such_package", "hello.launch.py")
    assert code == 1
    assert "Package 'no_such_package' not found" in output


@beyond_genuine
def test_launch_file_that_does_not_exist_is_named(tmp_path):
    code, output = run_launch(tmp_path / "absent.launch.py")
    assert code == 1
    assert f"launch file '{tmp_path / 'absent.launch.py'}' does not exist" in output
