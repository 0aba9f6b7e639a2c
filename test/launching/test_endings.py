"""What the end of a node means: its run is over, it is started again, or the launch fails with the cause."""

import pytest
from launch import LaunchContext
from launch.events.process import ProcessExited, ProcessIO

from ompo_ros.launching import endings, screen
from ompo_ros.to_launch import OVER

FATAL = b"[FATAL] [1794917247.77] [Learner]: [Errno 28] No space left on device: '/runs/a'\n"


@pytest.fixture(autouse=True)
def last_words(monkeypatch):
    """What would be said last, instead of at the end of these tests."""
    said = []
    monkeypatch.setattr(screen, "say_last", said.append)
    return said


def process(name):
    return {"action": None, "name": name, "cmd": [], "pid": 1}


def say(name, text, fd):
    endings.hear(ProcessIO(text=text, fd=fd, **process(name)))


def end(handler, name, returncode, context=None):
    return handler(ProcessExited(returncode=returncode, **process(name)), context or LaunchContext())


def test_the_cause_is_the_nodes_own_however_its_line_comes(last_words):
    say("learner-1", FATAL[:20], 2)
    say("learner-1", FATAL[20:], 2)
    with pytest.raises(endings.LaunchFailed, match="No space left on device: '/runs/a'"):
        end(endings.replaced, "learner-1", 2)
    assert last_words[0]() == "failed: learner: [Errno 28] No space left on device: '/runs/a'"


def test_a_cause_that_comes_after_the_end_is_still_said_last(last_words):
    with pytest.raises(endings.LaunchFailed, match="its log says why"):
        end(endings.replaced, "learner-2", 2)
    say("learner-2", FATAL, 2)
    assert "No space left" in last_words[0]()


@pytest.mark.parametrize("returncode", [0, -2, -9])
def test_a_node_that_was_stopped_or_killed_is_started_again(returncode):
    assert end(endings.replaced, "learner-3", returncode) == []


def test_a_node_whose_run_is_over_ends_the_launch():
    say("learner-4", f"{OVER}\n".encode(), 1)
    assert len(end(endings.replaced, "learner-4", 0)) == 2


def test_nodes_that_end_at_the_same_moment_end_the_launch_once():
    launch = LaunchContext()
    for name in ("learner-7", "run_manager-8"):
        say(name, f"{OVER}\n".encode(), 1)
    assert len(end(endings.replaced, "learner-7", 0, launch)) == 2
    assert end(endings.required("the run manager"), "run_manager-8", 0, launch) == []


def test_a_run_manager_that_was_stopped_is_no_run_that_is_over():
    with pytest.raises(endings.LaunchFailed, match="the run manager died"):
        end(endings.required("the run manager"), "run_manager-5", 0)


def test_what_a_node_said_before_it_ended_is_the_cause():
    say("target_collector-9", b"[FATAL] [1.5] [target_collector]: did not run for 6.0 s\n", 2)
    with pytest.raises(endings.LaunchFailed, match=r"the target collector died: did not run for 6\.0 s"):
        end(endings.required("the target collector"), "target_collector-9", 1)


def test_a_controller_may_be_stopped_but_not_die():
    controller = endings.required("the controller", may_stop=True)
    assert len(end(controller, "policy_controller-6", 0)) == 2
    with pytest.raises(endings.LaunchFailed, match="the controller died"):
        end(controller, "policy_controller-6", -11)
