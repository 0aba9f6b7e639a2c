"""Waiting for a condition, with a bound and a word about what did not come."""

import time


def wait_until(condition, what: str, seconds: float = 30.0, pause: float = 0.02) -> None:
    """Return when the condition holds; fail where it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(pause)
