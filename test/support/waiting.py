"""Waiting for a condition, with a bound and a word about what did not come."""

import time

PATIENCE = 300.0  # s; a limit of hangs alone, since on loaded cores a node takes a minute to come up


def wait_until(condition, what: str, seconds: float = PATIENCE, pause: float = 0.02) -> None:
    """Return when the condition holds; fail where it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(pause)
