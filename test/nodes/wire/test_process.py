"""A node ends with 0 when asked to stop, at whatever moment it is asked."""

import re
import signal
import subprocess
import sys
import time

import pytest
from waiting import PATIENCE

_NODE = """
import os, signal, time
from rclpy.node import Node
from ompo_ros.nodes.wire.process import run

class Slow(Node):
    def __init__(self):
        super().__init__("slow")
        {making}

def turn(node, executor):
    {turning}

run(Slow, turn)
"""
_INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
_TERMINATE = "os.kill(os.getpid(), signal.SIGTERM)"


def _end(making: str = "pass", turning: str = "pass") -> subprocess.CompletedProcess:
    script = _NODE.format(making=making, turning=turning)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("moment", ["making", "turning"])
def test_an_interrupt_ends_it_with_zero_and_without_a_word(moment):
    ended = _end(**{moment: _INTERRUPT})
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("ask", [_INTERRUPT, _TERMINATE])
def test_the_turn_is_finished_that_a_signal_falls_into(ask):
    ended = _end(turning=f"{ask}; time.sleep(0.2); print('finished')")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "finished\n"


def test_a_second_signal_does_not_wait_for_the_turn():
    ended = _end(turning=f"{_INTERRUPT}; {_TERMINATE}; print('finished')")
    assert ended.returncode == 0, ended.stderr
    assert "finished" not in ended.stdout


def test_a_refusal_while_it_is_made_is_one_sentence():
    ended = _end(making="raise ValueError('no such arm')")
    assert ended.returncode == 2
    assert "no such arm" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_error_while_it_runs_is_not_mistaken_for_a_refusal():
    ended = _end(turning="raise ValueError('a defect')")
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


_TELLS_AND_WAITS = "print('turn', flush=True); executor.spin_once(timeout_sec=0.1)"


def test_a_node_that_was_stopped_until_others_forgot_it_ends_and_says_so():
    script = _NODE.format(making="pass", turning=_TELLS_AND_WAITS)
    node = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert node.stdout.readline() == "turn\n"
        for stopped in (5.0, 10.5):
            assert node.poll() is None
            node.send_signal(signal.SIGSTOP)
            time.sleep(stopped)
            node.send_signal(signal.SIGCONT)
            time.sleep(1.0)
        _, said = node.communicate(timeout=PATIENCE)
    finally:
        node.kill()
    assert node.returncode == 1
    assert float(re.search(r"did not run for (\d+\.\d) s", said)[1]) >= 9.5
    assert "start it again" in said


def test_a_turn_that_computes_for_long_is_no_absence():
    long = "t = time.monotonic()\n    while time.monotonic() - t < 11.0: pass\n    " + _TERMINATE
    assert _end(turning=long).returncode == 0
