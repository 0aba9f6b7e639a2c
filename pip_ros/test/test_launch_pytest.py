"""launch_pytest: what it gives tests, and how it fails those whose launch goes wrong."""

import subprocess
import sys

import launch
import launch_pytest
import pytest
from commands import PATIENCE
from launch_pytest.tools import process as process_tools

SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print("hello", flush=True)
sys.stderr.write("world\\n")
signal.pause()
"""


@pytest.fixture
def process():
    return launch.actions.ExecuteProcess(cmd=[sys.executable, "-c", SCRIPT], cached_output=True, output="screen")


@launch_pytest.fixture
def description(process):
    return launch.LaunchDescription([process, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=description)
def test_a_function_waits_for_what_was_and_what_comes(process, launch_context):
    wait = process_tools.wait_for_stderr_sync
    for _ in range(2):
        assert wait(launch_context, process, lambda text: text == "world\n", timeout=PATIENCE)
    assert process.get_stdout() == "hello\n"
    assert not wait(launch_context, process, lambda text: "never" in text, timeout=0.1)
    assert not process_tools.wait_for_exit_sync(launch_context, process, timeout=0.1)


@pytest.mark.launch(fixture=description)
def test_a_generator_goes_on_after_the_shutdown(process, launch_service):
    context = launch_service.context
    assert process_tools.wait_for_stderr_sync(context, process, lambda text: "world" in text, timeout=PATIENCE)
    assert process.return_code is None
    yield
    assert process.return_code == 0


@pytest.fixture(scope="module")
def shared_process():
    return launch.actions.ExecuteProcess(cmd=[sys.executable, "-c", SCRIPT], cached_output=True, output="screen")


@launch_pytest.fixture(scope="module")
def shared(shared_process):
    return launch.LaunchDescription([shared_process, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=shared)
@pytest.mark.parametrize("turn", [1, 2])
def test_a_launch_of_a_module_runs_on_from_test_to_test(shared_process, launch_context, turn):
    wait = process_tools.wait_for_stderr_sync
    assert wait(launch_context, shared_process, lambda text: text == "world\n", timeout=PATIENCE)
    assert shared_process.return_code is None


HEAD = """
import sys, time, pytest, launch, launch_pytest
@launch_pytest.fixture
def described():
    return {returned}
@pytest.mark.launch({mark})
def test_it(launch_context):
{body}
"""
EMPTY = "launch.LaunchDescription()"
FAILING = "launch.LaunchDescription([launch.actions.OpaqueFunction(function=lambda context: 1 / 0)])"
SLEEPING = "launch.LaunchDescription([launch.actions.ExecuteProcess(cmd=['sleep', '1000'])])"
DYING = "launch.LaunchDescription([launch.actions.ExecuteProcess(cmd=['false'], on_exit=lambda *_: 1 / 0)])"


@pytest.mark.parametrize(
    ("returned", "mark", "body", "complaint"),
    [
        ("1", "fixture=described", "    pass", "must return a LaunchDescription"),
        (FAILING, "fixture=described", "    pass", "ended before it was ready to test"),
        (DYING, "fixture=described", "    time.sleep(1)", "failed with return code 1"),
        (EMPTY, "fixture=described", "    assert 1 == 2", "assert 1 == 2"),
        (EMPTY, "fixture=described", "    yield\n    assert 1 == 2", "assert 1 == 2"),
        (EMPTY, "fixture=described", "    yield\n    yield", "must yield only once"),
        (SLEEPING, "fixture=described", "    time.sleep(1000)", "Timeout"),
        (EMPTY, "fixture=described, shutdown=True", "    pass", "this stand-in for launch_pytest only knows"),
        (EMPTY, "", "    pass", "this stand-in for launch_pytest only knows"),
    ],
)
def test_what_goes_wrong_fails_the_test_and_leaves_nothing(tmp_path, returned, mark, body, complaint):
    result = run_pytest(tmp_path, HEAD.format(returned=returned, mark=mark, body=body))
    assert result.returncode != 0
    assert complaint in result.stdout
    assert " passed" not in result.stdout or "1 error" in result.stdout


def test_a_generator_may_not_end_a_launch_that_others_use(tmp_path):
    text = HEAD.format(returned=SLEEPING, mark="fixture=described", body="    yield")
    result = run_pytest(tmp_path, text.replace("pytest.fixture\n", "pytest.fixture(scope='module')\n"))
    assert "only in scope 'function'" in result.stdout
    assert "1 failed" in result.stdout


def run_pytest(folder, text):
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "--timeout=15", "-p", "no:cacheprovider", "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
