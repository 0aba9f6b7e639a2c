"""Launch tests that fail: readably, soon, and with no process left behind."""

import subprocess
import sys
import textwrap

import pytest
from launching import beyond_genuine, gone

HEAD = """
import os, sys, time
import launch, launch_pytest, pytest
from launch_pytest.tools import process as process_tools

SCRIPT = '''
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
print("pid", os.getpid(), flush=True)
open(os.environ["PID_FILE"], "w").write(str(os.getpid()))
while True:
    time.sleep(0.05)
'''

@pytest.fixture
def hanging():
    return launch.actions.ExecuteProcess(cmd=[sys.executable, "-c", SCRIPT], cached_output=True, output="screen",
                                         sigterm_timeout="0.2", sigkill_timeout="0.2")
"""


@pytest.fixture
def run_tests(tmp_path, monkeypatch):
    """Run tests by a pytest of their own; give the outcomes it reports, its output and the process that hangs."""
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))

    def run(tests, *options):
        (tmp_path / "test_inner.py").write_text(HEAD + textwrap.dedent(tests))
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_inner.py", *options]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        return result.stdout + result.stderr

    def pid():
        return int((tmp_path / "pid").read_text())

    run.pid = pid
    return run


def test_node_that_never_says_what_is_awaited_fails_its_test(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description(hanging):
            return launch.LaunchDescription([hanging])

        @pytest.mark.launch(fixture=description)
        async def test_it(hanging, launch_context):
            await process_tools.wait_for_output(launch_context, hanging, lambda text: "pid" in text, timeout=10)
            assert await process_tools.wait_for_output(launch_context, hanging, lambda text: "ready" in text, timeout=1)
        """
    )
    assert "1 failed" in output
    assert gone(run_tests.pid())


@beyond_genuine
def test_plain_test_that_hangs_is_ended_by_its_timeout(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description(hanging):
            return launch.LaunchDescription([hanging])

        @pytest.mark.launch(fixture=description)
        def test_it(hanging, launch_context):
            process_tools.wait_for_output_sync(launch_context, hanging, lambda text: "pid" in text, timeout=10)
            time.sleep(1000)
        """,
        "--timeout=2",
    )
    assert "1 failed" in output
    assert "Timeout" in output
    assert gone(run_tests.pid())


def test_launch_that_is_never_ready_is_ended_by_the_timeout(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description(hanging):
            ready = launch.actions.RegisterEventHandler(launch.event_handlers.OnProcessExit(
                target_action=hanging, on_exit=[launch_pytest.actions.ReadyToTest()]))
            return launch.LaunchDescription([hanging, ready])

        @pytest.mark.launch(fixture=description)
        def test_it():
            pass
        """,
        "--timeout=2",
    )
    assert "1 error" in output
    assert gone(run_tests.pid())


@beyond_genuine
def test_launch_that_ends_before_it_is_ready_fails_at_once(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description():
            quick = launch.actions.ExecuteProcess(cmd=["false"])
            return launch.LaunchDescription([quick, launch.actions.TimerAction(
                period=600.0, actions=[launch_pytest.actions.ReadyToTest()]), launch.actions.RegisterEventHandler(
                launch.event_handlers.OnProcessExit(target_action=quick, on_exit=[launch.actions.Shutdown()]))])

        @pytest.mark.launch(fixture=description)
        def test_it():
            pass
        """
    )
    assert "ended before it was ready to test" in output
    assert "1 error" in output


def test_failures_of_all_kinds_of_tests_are_seen(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description():
            return launch.LaunchDescription([launch.actions.ExecuteProcess(cmd=["sleep", "60"])])

        @pytest.mark.launch(fixture=description)
        async def test_coroutine():
            assert False, "in the coroutine"

        @pytest.mark.launch(fixture=description)
        def test_function():
            assert False, "in the function"

        @pytest.mark.launch(fixture=description)
        def test_generator():
            yield
            assert False, "after the yield"

        @pytest.mark.launch(fixture=description)
        async def test_asynchronous_generator():
            yield
            assert False, "after the asynchronous yield"

        @pytest.mark.launch(fixture=description)
        def test_skipped():
            pytest.skip("not today")
        """
    )
    assert "4 failed, 1 skipped" in output
    for place in ("in the coroutine", "in the function", "after the yield", "after the asynchronous yield"):
        assert place in output


def test_launch_that_fails_fails_its_test(run_tests):
    output = run_tests(
        """
        @launch_pytest.fixture
        def description():
            return launch.LaunchDescription([
                launch_pytest.actions.ReadyToTest(),
                launch.actions.LogInfo(msg=launch.substitutions.LaunchConfiguration("absent")),
            ])

        @pytest.mark.launch(fixture=description)
        async def test_it():
            pass
        """
    )
    assert "1 error" in output
