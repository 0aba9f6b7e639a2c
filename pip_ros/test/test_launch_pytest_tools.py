"""Waiting for the start, the output and the end of a process."""

import sys

import launch
import launch_pytest
import pytest
from launch_pytest.tools import process as process_tools

SCRIPT = """
import sys, time
time.sleep(0.2)
print('hello', flush=True)
print('world', file=sys.stderr, flush=True)
time.sleep(0.3)
"""


@pytest.fixture
def process():
    return launch.actions.ExecuteProcess(cmd=[sys.executable, "-c", SCRIPT], cached_output=True, output="screen")


@launch_pytest.fixture
def description(process):
    return launch.LaunchDescription([process, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=description)
async def test_coroutine_waits(process, launch_context):
    assert await process_tools.wait_for_start(launch_context, process, timeout=10)
    assert await process_tools.wait_for_output(launch_context, process, lambda text: "hello" in text, timeout=10)
    assert await process_tools.wait_for_stderr(launch_context, process, lambda text: "world" in text, timeout=10)
    assert not await process_tools.wait_for_output(launch_context, process, lambda text: "never" in text, timeout=0.1)
    assert await process_tools.wait_for_exit(launch_context, process, timeout=10)
    assert process.return_code == 0


@pytest.mark.launch(fixture=description)
def test_function_waits(process, launch_context):
    def greets(text):
        assert text == "hello\n"

    def complains(text):
        assert text == "world\n"

    process_tools.assert_output_sync(launch_context, process, greets, timeout=10)
    process_tools.assert_stderr_sync(launch_context, process, complains, timeout=10)
    with pytest.raises(AssertionError):
        process_tools.assert_output_sync(launch_context, process, complains, timeout=0.1)
    assert process_tools.wait_for_exit_sync(launch_context, process, timeout=10)
    yield
    assert process.return_code == 0


@pytest.mark.launch(fixture=description, shutdown=True)
def test_process_was_stopped_before(process):
    assert process.return_code not in (None, 0)


class TestInAClass:
    @pytest.mark.launch(fixture=description)
    async def test_method(self, process, launch_context):
        assert await process_tools.wait_for_output(launch_context, process, lambda text: "hello" in text, timeout=10)
