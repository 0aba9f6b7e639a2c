"""Processes: what they say, how they end, what the launch returns, and that none is left behind."""

import signal
import subprocess

import pytest
from commands import PATIENCE, ROS2, gone, ros2, started, write_launch_file

ENDLESS = "import os, time\nprint('pid', os.getpid(), flush=True)\nfor _ in range(12000): time.sleep(0.05)"
POLITE = f"import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(0))\n{ENDLESS}"
STUBBORN = f"import signal\nfor s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n{ENDLESS}"
CHILD = STUBBORN.replace("pid", "grandchild", 1)
PARENT = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {CHILD!r}])\n{POLITE}"


@pytest.fixture
def launch_file(tmp_path):
    codes = f"ENDLESS, STUBBORN, POLITE, PARENT = {(ENDLESS, STUBBORN, POLITE, PARENT)!r}"
    react = """
    def fail(event, context):
        if not context.is_shutdown:
            raise RuntimeError(f"{event.process_name} died with {event.returncode}")
    """
    return lambda entities: write_launch_file(tmp_path / "test.launch.py", entities, react + f"\n    {codes}")


def test_output_is_prefixed_and_ends_are_reported_in_order(launch_file):
    late = "import os, time; os.fork() or (time.sleep(0.05), print('last words', end=''))"
    bad = "import sys; sys.stderr.write('bad news\\n'); sys.exit(3)"
    code, output = ros2("launch", launch_file(f"python({late!r}), python({bad!r}, name='other'),"))
    assert code == 0
    assert output.index("[child-1] last words\n") < output.index("[INFO] [child-1]: process has finished cleanly [pid ")
    assert "[other-2] bad news\n" in output
    assert "[INFO] [child-1]: process started with pid [" in output
    assert "[ERROR] [other-2]: process has died [pid " in output
    assert ", exit code 3, cmd '" in output


def test_output_goes_where_it_is_asked_to(launch_file):
    code = "import sys; print('to stdout'); sys.stderr.write('to stderr\\n')"
    file = launch_file(f"python({code!r}, output='log'),")
    _, output = ros2("launch", file)
    assert "[child-1] to stdout" not in output
    assert "[child-1] to stderr" in output
    log_dir = output.split("All log files can be found below ")[1].split()[0]
    with open(f"{log_dir}/launch.log", encoding="utf-8") as log:  # noqa: PTH123
        assert "[child-1] to stdout" in log.read()


def test_each_stream_may_go_to_places_of_its_own(launch_file):
    code = "import sys; print('to stdout'); sys.stderr.write('to stderr\\n')"
    _, output = ros2("launch", launch_file(f"python({code!r}, output={{'stdout': set(), 'stderr': {{'screen'}}}}),"))
    assert "to stdout" not in output
    assert "[child-1] to stderr" in output
    code, output = ros2("launch", launch_file(f"python({code!r}, output={{'stdout': {{'paper'}}}}),"))
    assert code == 1
    assert "got 'paper'" in output


def test_a_launch_file_may_react_to_output_and_choose_the_screen(tmp_path):
    react = """
    import io
    from launch import logging

    def heard(event):
        return [LogInfo(msg=f"heard {event.text.decode().strip()} of {event.process_name}")]

    class Screen(io.TextIOBase):
        def write(self, text):
            return sys.stdout.write(text.upper())

    def use_screen(context):
        logging.launch_config.get_screen_handler().setStream(Screen())
    """
    code = "import sys; print('news'); sys.stdout.flush(); sys.stderr.write('warning\\n')"
    entities = f"""
    OpaqueFunction(function=use_screen),
    child := python({code!r}, output="log"),
    RegisterEventHandler(OnProcessIO(target_action=child, on_stdout=heard)),
    """
    _, output = ros2("launch", write_launch_file(tmp_path / "react.launch.py", entities, react))
    assert "HEARD NEWS OF CHILD-1" in output
    assert "HEARD WARNING" not in output


def test_a_process_is_given_variables_beside_those_of_the_launch(launch_file):
    tell = "import os; print(os.environ['A'], 'HOME' in os.environ)"
    _, output = ros2("launch", launch_file(f"python({tell!r}, additional_env={{'A': ['x', 'y']}}),"))
    assert "[child-1] xy True\n" in output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 1)])
def test_a_signal_stops_everything_and_all_that_it_started(launch_file, number, code):
    with started("launch", launch_file("python(PARENT), python(ENDLESS, name='rude'),")) as launch:
        names = ("[child-1] pid ", "[child-1] grandchild ", "[rude-2] pid ")
        pids = [launch.number_after(name) for name in names]
        assert launch.end(number) == code, launch.output
        assert "[INFO] [child-1]: process has finished cleanly" in launch.output
        assert "exit code -2" in launch.output
        assert gone(*pids)


def test_a_process_that_does_not_end_is_killed(launch_file):
    file = launch_file("python(STUBBORN, sigterm_timeout='0.1', sigkill_timeout='0.1'),")
    with started("launch", file) as launch:
        pid = launch.number_after("[child-1] pid ")
        assert launch.end(signal.SIGINT) == 0
        assert "seconds after receiving 'SIGINT', escalating to 'SIGTERM'" in launch.output
        assert "seconds after receiving 'SIGTERM', escalating to 'SIGKILL'" in launch.output
        assert gone(pid)


# As genuine launch 3.4 has it: 0 after a Shutdown, whatever led to it; 1 after an exception, wherever it was raised.
@pytest.mark.parametrize(
    ("reaction", "code", "said"),
    [
        ("Shutdown(reason='required')", 0, "process[child-1] was required: shutting down launched system"),
        ("[LogInfo(msg='over'), EmitEvent(event=launch.events.Shutdown(reason='over'))]", 0, "[launch.user]: over"),
        ("fail", 1, "Caught exception in launch (see debug for traceback): child-1 died with 3"),
        ("[LogInfo(msg=LaunchConfiguration('absent'))]", 1, "launch configuration 'absent' does not exist"),
    ],
)
def test_the_end_of_a_process_may_end_the_launch(launch_file, reaction, code, said):
    dying = "import sys; sys.exit(3)"
    with started("launch", launch_file(f"python({dying!r}, on_exit={reaction}), python(POLITE),")) as launch:
        assert launch.end() == code, launch.output
        assert said in launch.output
        assert "sending signal 'SIGINT' to process[child-2]" in launch.output


def test_a_handler_that_raises_during_the_shutdown_keeps_nothing_alive(launch_file):
    broken = "RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: 1 / 0)),"
    with started("launch", launch_file(f"python(POLITE), {broken}")) as launch:
        pid = launch.number_after("[child-1] pid ")
        assert launch.end(signal.SIGINT) == 1
        assert "division by zero" in launch.output
        assert gone(pid)


def test_a_reader_that_leaves_does_not_end_the_launch(launch_file):
    chatty = "python(POLITE.replace('time.sleep(0.05)', 'time.sleep(0.05), print(0, flush=True)')),"
    process = subprocess.Popen([ROS2, "launch", launch_file(chatty)], stdout=subprocess.PIPE, text=True)
    pid = next(int(line.split()[-1]) for line in process.stdout if line.startswith("[child-1] pid "))
    process.stdout.close()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert gone(pid)


def test_a_program_that_does_not_exist_is_reported_and_nobody_reacts(launch_file):
    code, output = ros2("launch", launch_file("ExecuteProcess(cmd=['/no/such/program'], on_exit=fail),"))
    assert code == 0
    assert "exception occurred while executing process" in output
    assert "/no/such/program" in output


def test_a_handler_starts_what_comes_next(launch_file):
    handler = "RegisterEventHandler(OnProcessExit(on_exit=[LogInfo(msg='second')])),"
    code, output = ros2("launch", launch_file(f"python('print(1)'), {handler}"))
    assert code == 0
    assert output.index("process has finished cleanly") < output.index("second")


def test_a_process_is_respawned_until_the_launch_ends(launch_file):
    file = launch_file("python('raise SystemExit(4)', respawn=True, respawn_delay=0.05),")
    with started("launch", file) as launch:
        launch.wait_for("process has died", times=3)
        assert launch.end(signal.SIGINT) == 0
