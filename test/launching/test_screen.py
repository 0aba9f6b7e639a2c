"""On a terminal a launch shows what a person needs, and below it one line of progress that is drawn anew."""

import io
import re

import pytest

from ompo_ros.launching.screen import Screen


@pytest.fixture
def terminal():
    return io.StringIO()


@pytest.fixture
def screen(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    return Screen(terminal)


def plain(terminal) -> str:
    """What the terminal was sent, without colours."""
    return re.sub(r"\x1b\[\d+m", "", terminal.getvalue())


def shown(terminal) -> list[str]:
    """The lines that stay: each is drawn over the progress before it."""
    return [line.rpartition("\r\x1b[K")[2] for line in plain(terminal).split("\n")]


def test_lines_of_nodes_and_of_the_launch_are_cut_to_what_they_say(screen, terminal):
    screen.write("[INFO] [launch.user]: adapting to mujoco\n")
    screen.write("[learner-1] [WARN] [1794917247.77] [ompo.learner]: no checkpoint is written\n")
    assert shown(terminal)[:2] == ["adapting to mujoco", "learner: no checkpoint is written"]
    assert "\x1b[33mlearner" in terminal.getvalue(), "a warning is yellow"


def test_what_the_launch_does_with_processes_is_left_out_unless_one_dies(screen, terminal):
    screen.write("[INFO] [learner-1]: process started with pid [12]\n")
    screen.write("[INFO] [learner-1]: sending signal 'SIGINT' to process[learner-1]\n")
    screen.write("[ERROR] [learner-1]: process has died [pid 12, exit code -9, cmd '/a/b --ros-args'].\n")
    assert shown(terminal) == ["learner died, exit code -9", ""]


def test_a_line_may_come_in_pieces(screen, terminal):
    for piece in ("[INFO] [launch", ".user]: whole", "\n"):
        screen.write(piece)
    assert shown(terminal)[0] == "whole"


def test_progress_stays_below_and_fits_the_terminal(screen, terminal):
    screen.draw("1/9 steps " + "x" * 100)
    screen.write("[INFO] [launch.user]: news\n")
    assert shown(terminal) == ["news", ("1/9 steps " + "x" * 100)[:39]]
    screen.draw("1/9 steps | 0:30 left | success 100% | policy 3")
    assert shown(terminal)[-1] == "1/9 steps | 0:30 left | success 100%", "no figure is cut in two"
    screen.draw("")
    assert shown(terminal)[-1] == "", "nothing is left of it at the end"


def test_tracebacks_of_nodes_that_are_stopped_are_left_out_and_others_not(screen, terminal):
    screen.write("[learner-1] Traceback (most recent call last):\n")
    screen.write("[WARNING] [launch]: user interrupted with ctrl-c (SIGINT)\n")
    screen.write("[learner-1] KeyboardInterrupt\n")
    assert shown(terminal) == ["learner: Traceback (most recent call last):", "stopping", ""]


def test_a_node_that_is_killed_at_the_end_of_a_run_is_no_news(screen, terminal):
    screen.write("[INFO] [launch.user]: ending: the run is over\n")
    screen.write("[ERROR] [monitor-9]: process has died [pid 12, exit code -9, cmd '/a/b --ros-args'].\n")
    assert shown(terminal) == ["ending: the run is over", ""]


def test_without_colours_there_are_none(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    Screen(terminal).write("[ERROR] [launch]: bad\n")
    assert terminal.getvalue() == "\r\x1b[Kbad\n"
