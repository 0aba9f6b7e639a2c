"""Every test gets a ROS domain of its own on localhost, so that neither its forerunner nor a run beside it is heard."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# A shell starts what runs in the background with SIGINT ignored, and all below it: the tests send Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

_PROFILE = Path(__file__).parent / "config" / "fastdds.xml"  # as launches have it: fewer messages are lost
_SCHEDULER, _PRIORITY = os.sched_getscheduler(0), os.sched_getparam(0)

try:
    from domain_coordinator import domain_id
    from domain_coordinator.impl import default_selector

    _next_domain = default_selector()

    def _reserve_domain() -> Any:
        return domain_id(_next_domain)

except ImportError:  # no ROS on this machine, so nothing to keep apart

    def _reserve_domain() -> Any:
        return contextlib.nullcontext(0)


@contextlib.contextmanager
def _own_domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with _reserve_domain() as number, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(number))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("ros_log")))
        patch.setenv("PYTHONUNBUFFERED", "1")
        patch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(_PROFILE))
        yield number


@pytest.fixture(autouse=True)
def _own_priority():
    """An arm node, or libfranka's client, makes this thread a real-time one; whatever starts later would inherit it."""
    yield
    if os.sched_getscheduler(0) != _SCHEDULER:
        os.sched_setscheduler(0, _SCHEDULER, _PRIORITY)


@pytest.fixture(autouse=True)
def ros_domain(tmp_path_factory):
    """The domain's number, reserved on this machine until the test ends."""
    with _own_domain(tmp_path_factory) as number:
        yield number


@pytest.fixture(scope="module")
def module_domain(tmp_path_factory):
    """One domain for the tests of a module that share what they launch; they say so by a `ros_domain` of their own."""
    with _own_domain(tmp_path_factory) as number:
        yield number
