"""The benchmark's targets: drawn, not chosen, and what was drawn is what is kept."""

import numpy as np
import pytest

from ompo_ros.resources import resource_path
from ompo_ros.sim import gaps
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task


@pytest.mark.parametrize("kind", gaps.WANTED)
def test_a_seed_draws_the_same_arm_for_ever_and_another_each_time(kind):
    assert gaps.draw_gap(kind, 3) == gaps.draw_gap(kind, 3)
    assert gaps.draw_gap(kind, 3).drawn != gaps.draw_gap(kind, 5).drawn


def test_simulators_take_turns():
    assert [gaps.simulator_of(index) for index in range(3)] == ["panda_gym", "mujoco", "panda_gym"]


@pytest.mark.parametrize("kind", gaps.WANTED)
def test_a_drawn_arm_survives_its_file_and_moves(kind, tmp_path):
    path, drawn = tmp_path / f"{kind}_1.yaml", gaps.draw_gap(kind, 1)
    write_domain(drawn, path)
    assert load_domain(path) == drawn
    robot = load_robot("panda")
    arm = make_stand_in("mujoco", str(path), Task("reach", "dense"), robot, seed=0, command_timeout=0.5)
    arm.command(arm.measured.position + 0.05)
    assert np.isfinite(arm.advance(robot.period).position).all()


def test_every_gap_that_counts_is_kept_as_it_was_drawn():
    for gap in gaps.benchmark():
        kind, index = gap.domain.removeprefix("gaps/").rsplit("_", 1)
        assert load_domain(gap.domain) == gaps.draw_gap(kind, int(index))
        assert gap.simulator == gaps.simulator_of(int(index))


def test_candidates_were_tried_in_order_and_judged_by_the_rule():
    rows = gaps.read_record(resource_path(gaps.FOLDER))
    for kind in gaps.WANTED:
        own = [row for row in rows if row["kind"] == kind]
        assert [int(row["index"]) for row in own] == list(range(len(own)))
        for row in own:
            passes = float(row["shipped"]) < gaps.SHIPPED_BELOW and float(row["trained"]) >= gaps.TRAINED_FROM
            assert row["counts"] == ("yes" if passes else "no")
