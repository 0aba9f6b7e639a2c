"""Every test gets a ROS domain of its own on localhost, so that neither its forerunner nor a run beside it is heard."""

import contextlib
import signal
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# A shell starts what runs in the background with SIGINT ignored, and all below it: the tests send Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from domain_coordinator import domain_id
    from domain_coordinator.impl import default_selector

    _next_domain = default_selector()

    def _reserve_domain() -> Any:
        return domain_id(_next_domain)

except ImportError:  # no ROS on this machine, so nothing to keep apart

    def _reserve_domain() -> Any:
        return contextlib.nullcontext(0)


@pytest.fixture(autouse=True)
def ros_domain(monkeypatch, tmp_path_factory):
    """The domain's number, reserved on this machine until the test ends."""
    with _reserve_domain() as number:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("ros_log")))
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
        yield number
