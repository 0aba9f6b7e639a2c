"""Processes: what they say, how they end, and that none is left behind."""

import os
import pty
import signal
import sys

import pytest
from launching import ROS2, beyond_genuine, gone, launched, run_launch, write_launch_file

ENDLESS = """
import os, time
print('pid', os.getpid(), flush=True)
while True:
    time.sleep(0.05)
"""
STUBBORN = "import signal\nfor s in (signal.SIGINT, signal.SIGTERM):\n    signal.signal(s, signal.SIG_IGN)\n" + ENDLESS
POLITE = "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(0))\n" + ENDLESS
PARENT = (
    "import subprocess, sys\n"
    f"child = subprocess.Popen([sys.executable, '-c', {STUBBORN.replace(chr(39) + 'pid', chr(39) + 'grandchild')!r}])\n"
    + POLITE
)


@pytest.fixture
def launch_file(tmp_path):
    before = f"ENDLESS, STUBBORN, POLITE, PARENT = {(ENDLESS, STUBBORN, POLITE, PARENT)!r}"
    return lambda entities: write_launch_file(tmp_path / "test.launch.py", entities, before)


def test_output_is_prefixed_and_ends_are_reported(launch_file):
    code, output = run_launch(
        launch_file(
            """
            python("print('one'); print('two', end='')"),
            python("import sys; sys.stderr.write('bad news\\\\n'); sys.exit(3)", name="other"),
            """
        )
    )
    assert code == 0
    assert "[child-1] one\n" in output
    assert "[child-1] two\n" in output
    assert "[other-2] bad news\n" in output
    assert "[INFO] [child-1]: process started with pid [" in output
    assert "[INFO] [child-1]: process has finished cleanly [pid " in output
    assert "[ERROR] [other-2]: process has died [pid " in output
    assert ", exit code 3, cmd '" in output


@beyond_genuine
def test_all_output_comes_before_the_report_of_the_end(launch_file):
    late = "(sleep 0.05; printf 'last words') & exit 0"
    _, output = run_launch(launch_file(f'ExecuteProcess(cmd=["sh", "-c", {late!r}], output="screen"),'))
    assert output.index("[sh-1] last words\n") < output.index("process has finished cleanly")


def test_output_goes_where_it_is_told(launch_file):
    code = "import sys; print('to stdout'); sys.stderr.write('to stderr\\\\n')"
    _, output = run_launch(launch_file(f'python("{code}", output="log"),'))
    assert "[child-1] to stdout" not in output
    assert "[child-1] to stderr" in output
    log_dir = output.split("All log files can be found below ")[1].split()[0]
    with open(f"{log_dir}/launch.log", encoding="utf-8") as log:  # noqa: PTH123
        assert "to stdout" in log.read()
    _, output = run_launch("-a", launch_file(f'python("{code}", output="log"),'))
    assert "[child-1] to stdout" in output


def test_process_is_given_folder_variables_prefix_and_terminal(launch_file, tmp_path):
    tell = "import os, sys; print(os.getcwd(), os.environ.get('A'), os.environ.get('HOME'), sys.stdout.isatty())"
    code, output = run_launch(
        launch_file(
            f"""
            python({tell!r}, cwd={str(tmp_path)!r}, additional_env={{"A": ["x", "y"]}}, emulate_tty=True),
            python({tell!r}, cwd="/", env={{"A": "only"}}, prefix="env B=1", name="bare"),
            ExecuteProcess(cmd=["echo", "$((1", "+", "1))"], shell=True, output="screen", name="shell"),
            """
        )
    )
    assert code == 0
    assert f"[child-1] {tmp_path} xy {os.environ['HOME']} True" in output
    assert "[bare-2] / only None False" in output
    assert "[shell-3] 2\n" in output


def test_interrupt_stops_everything_and_exits_cleanly(launch_file):
    with launched(launch_file("python(POLITE), python(ENDLESS, name='rude'),")) as launch:
        pids = [launch.number_after(f"[{name}] pid ") for name in ("child-1", "rude-2")]
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert "[WARNING] [launch]: user interrupted with ctrl-c (SIGINT)" in launch.output
        assert "[INFO] [child-1]: process has finished cleanly" in launch.output
        assert "exit code -2" in launch.output
        assert gone(*pids)


def test_process_that_ignores_signals_is_killed_in_the_end(launch_file):
    with launched(launch_file("python(STUBBORN, sigterm_timeout='0.2', sigkill_timeout='0.2'),")) as launch:
        pid = launch.number_after("[child-1] pid ")
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert "seconds after receiving 'SIGINT', escalating to 'SIGTERM'" in launch.output
        assert "seconds after receiving 'SIGTERM', escalating to 'SIGKILL'" in launch.output
        assert "exit code -9" in launch.output
        assert gone(pid)


def test_timeouts_can_be_launch_arguments(launch_file):
    with launched(launch_file("python(STUBBORN),"), "sigterm_timeout:=0.2", "sigkill_timeout:=0.2") as launch:
        launch.wait_for("[child-1] pid ")
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert "exit code -9" in launch.output


@beyond_genuine
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_termination_stops_everything_too(launch_file, number):
    with launched(launch_file("python(POLITE),")) as launch:
        pid = launch.number_after("[child-1] pid ")
        launch.send(number)
        assert launch.end() == 0
        assert gone(pid)


@beyond_genuine
def test_further_interrupts_escalate(launch_file):
    with launched(launch_file("python(STUBBORN, sigterm_timeout='600', sigkill_timeout='600'),")) as launch:
        pid = launch.number_after("[child-1] pid ")
        launch.send(signal.SIGINT)
        launch.wait_for("sending signal 'SIGINT'")
        launch.send(signal.SIGINT)
        launch.wait_for("sending signal 'SIGTERM'")
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert "exit code -9" in launch.output
        assert gone(pid)


@beyond_genuine
def test_grandchildren_are_not_left_behind(launch_file):
    with launched(launch_file("python(PARENT),")) as launch:
        pids = [launch.number_after("grandchild "), launch.number_after("[child-1] pid ")]
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert gone(*pids)


@beyond_genuine
def test_orphans_of_a_process_that_ended_before_are_stopped_at_the_end(launch_file):
    shell = (
        f"{sys.executable} -c 'import os, time; print(\"orphan\", os.getpid(), flush=True); time.sleep(60)' & sleep 0.5"
    )
    with launched(
        launch_file(f"ExecuteProcess(cmd=[{shell!r}], shell=True, output='screen', name='shell'), python(POLITE),")
    ) as launch:
        pid = launch.number_after("orphan ")
        launch.wait_for("[shell-1]: process has finished cleanly")
        launch.send(signal.SIGINT)
        assert launch.end() == 0
        assert gone(pid)


def test_ctrl_c_in_a_terminal_reaches_a_process_once(launch_file):
    count = """
import signal, time
times = []
signal.signal(signal.SIGINT, lambda *_: times.append(1))
print('ready', flush=True)
while not times:
    time.sleep(0.02)
time.sleep(0.5)
print('interrupted', len(times), 'times', flush=True)
"""
    file = launch_file(f"python({count!r}),")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(ROS2, [ROS2, "launch", str(file)])  # noqa: S606
    output = b""
    with os.fdopen(terminal, "rb+", buffering=0) as stream:
        pressed = False
        while True:
            try:
                news = stream.read(4096)
            except OSError:
                break
            output += news
            if not news:
                break
            if b"[child-1] ready" in output and not pressed:
                stream.write(b"\x03")
                pressed = True
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"interrupted 1 times" in output


def test_required_process_stops_the_launch(launch_file):
    with launched(
        launch_file(
            "python('import sys; sys.exit(4)', on_exit=Shutdown(reason='it died')), python(POLITE, name='rest'),"
        )
    ) as launch:
        launch.end()
        assert "exit code 4" in launch.output
        assert "[INFO] [rest-2]: process has finished cleanly" in launch.output or "[rest-2] pid" not in launch.output


@beyond_genuine
@pytest.mark.parametrize(
    ("entities", "code"),
    [
        ("python('import sys; sys.exit(4)', on_exit=Shutdown()),", 1),
        ("python('import sys; sys.exit(4)', on_exit=lambda event, context: [Shutdown()]),", 1),
        ("ExecuteProcess(cmd=['/no/such/program'], on_exit=Shutdown()),", 1),
        ("python('pass', on_exit=Shutdown()),", 0),
        ("python('import sys; sys.exit(4)'),", 0),
    ],
)
def test_exit_code_tells_whether_a_required_process_died(launch_file, entities, code):
    assert run_launch(launch_file(entities))[0] == code


def test_program_that_does_not_exist_is_reported(launch_file):
    _, output = run_launch(launch_file("ExecuteProcess(cmd=['/no/such/program']), python('print(1)'),"))
    assert "No such file or directory: '/no/such/program'" in output
    assert "process has finished cleanly" in output


def test_process_is_respawned_until_the_launch_ends(launch_file):
    with launched(
        launch_file("python('print(\"born\"); raise SystemExit(1)', respawn=True, respawn_delay=0.1),")
    ) as launch:
        launch.wait_for("[child-1] born", times=3)
        launch.send(signal.SIGINT)
        assert launch.end() == 0


def test_respawns_can_be_limited(launch_file):
    _, output = run_launch(launch_file("python('print(\"born\")', respawn=True, respawn_max_retries=2),"))
    assert output.count("[child-1] born") == 3


def test_handlers_react_to_start_output_exit_and_shutdown(launch_file):
    code, output = run_launch(
        launch_file(
            """
            *(lambda process: [
                RegisterEventHandler(OnProcessStart(target_action=process, on_start=[LogInfo(msg="it started")])),
                RegisterEventHandler(OnProcessIO(
                    target_action=process,
                    on_stdout=lambda event: LogInfo(msg="it said " + event.text.decode().strip()))),
                RegisterEventHandler(OnProcessExit(
                    target_action=process,
                    on_exit=lambda event, context: [LogInfo(msg=f"it ended by {event.returncode}"),
                                                    python("print('successor')", name="next")])),
                RegisterEventHandler(OnShutdown(
                    on_shutdown=[LogInfo(msg=["shutdown: ", LocalSubstitution("event.reason")])])),
                process,
            ])(python("print('words'); raise SystemExit(5)")),
            """
        )
    )
    assert code == 0
    places = [
        output.index(text)
        for text in ("it started", "it said words", "it ended by 5", "[next-2] successor", "shutdown: idle")
    ]
    assert places == sorted(places)


def test_events_stop_and_signal_single_processes(launch_file):
    code, output = run_launch(
        launch_file(
            """
            *(lambda first, second: [
                first, second,
                RegisterEventHandler(OnProcessIO(target_action=first, on_stdout=lambda _: EmitEvent(
                    event=launch.events.process.ShutdownProcess(
                        process_matcher=launch.events.matches_action(first))))),
                RegisterEventHandler(OnProcessExit(target_action=first, on_exit=[EmitEvent(
                    event=launch.events.process.SignalProcess(
                        signal_number="SIGKILL", process_matcher=launch.events.matches_action(second)))])),
            ])(python(POLITE), python(STUBBORN, name="second")),
            """
        )
    )
    assert code == 0
    assert "[INFO] [child-1]: process has finished cleanly" in output
    assert "exit code -9" in output


def test_timer_launches_later_and_shutdown_cancels_it(launch_file):
    code, output = run_launch(
        launch_file(
            """
            TimerAction(period=0.3, actions=[LogInfo(msg="later"), Shutdown(reason="enough")]),
            TimerAction(period=600.0, actions=[LogInfo(msg="much later")]),
            LogInfo(msg="now"),
            python(POLITE),
            """
        )
    )
    assert code == 0
    assert output.index("now") < output.index("later")
    assert "much later" not in output


@beyond_genuine
def test_handler_that_fails_keeps_no_process_from_being_stopped(launch_file):
    with launched(
        launch_file("python(POLITE), RegisterEventHandler(OnShutdown(on_shutdown=lambda e, c: 1 / 0)),")
    ) as launch:
        pid = launch.number_after("[child-1] pid ")
        launch.send(signal.SIGINT)
        assert launch.end() == 1
        assert "ZeroDivisionError" in launch.output
        assert "[INFO] [child-1]: process has finished cleanly" in launch.output
        assert gone(pid)


def test_emitted_shutdown_event_ends_the_launch(launch_file):
    code, output = run_launch(
        launch_file(
            """
            python(POLITE),
            TimerAction(period=0.2, actions=[EmitEvent(event=launch.events.Shutdown(reason="by event"))]),
            RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: LogInfo(msg="why: " + event.reason))),
            """
        )
    )
    assert code == 0
    assert "why: by event" in output
