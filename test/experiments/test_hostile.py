"""Some of the ticks of `python -m ompo_ros.experiments.hostile`, and a filter that the judge must not like."""

from dataclasses import replace

import pytest

from ompo_ros.control.driver import ForwardDriver, TrajectoryDriver
from ompo_ros.experiments.hostile import ARMS, hostile


@pytest.mark.parametrize(("robot", "driver"), ARMS)
def test_hostile_ticks_break_no_limit(robot, driver):
    samples, violations = hostile(robot, driver, [0], seed=11)
    assert samples > 50_000
    assert violations == []


@pytest.mark.parametrize(("driver", "model"), [("", ForwardDriver), ("franka_ros2", TrajectoryDriver)])
def test_a_filter_that_forgets_how_much_time_has_passed_is_found_out(monkeypatch, driver, model):
    honest = model.start

    def forgetful(self, plan, now):
        return replace(honest(self, plan, plan.start + self._period), latest=now + 1.0)

    monkeypatch.setattr(model, "start", forgetful)
    _, violations = hostile("panda", driver, [0], seed=11)
    assert len(violations) > 10
