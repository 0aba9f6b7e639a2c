"""Which of the target's steps a belief is fitted to."""

import numpy as np
import pytest

from ompo_ros.sim.belief.evidence import FEWEST, Evidence
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions

PUSH = Task("push", "dense")


def steps_beside_cubes(distances):
    """An arm at rest and a cube at these distances from the hand, one step each."""
    n = len(distances)
    still, hand = np.zeros((n, 7)), np.zeros((n, 3))
    cube = np.column_stack((distances, np.zeros((n, 2))))
    obs = PUSH.observation(still, still, hand, cube, hand)
    count = np.arange(n, dtype=np.uint32)
    return Transitions(
        origin=Origin.TARGET,
        obs=obs,
        action=still.astype(np.float32),
        reward=np.zeros(n, np.float32),
        next_obs=obs,
        terminated=np.zeros(n, np.bool_),
        truncated=np.zeros(n, np.bool_),
        step=count,
        policy_version=count,
        domain_id=count,
        command=np.repeat(count[:, None], 7, axis=1).astype(np.float32) / 100.0,
    )


def fitted_steps(evidence, delay=0):
    rows = [evidence.rows(delay, held_out=held_out) for held_out in (False, True)]
    return sorted(round(100.0 * command) for each in rows for command in each.command[:, 0])


@pytest.mark.parametrize("delay", [0, 1])
def test_steps_beside_the_cube_are_left_out_and_their_commands_still_count(delay):
    evidence = Evidence(PUSH)
    evidence.add(steps_beside_cubes([0.03] * 10 + [0.2] * FEWEST))
    assert fitted_steps(evidence, delay) == list(range(10 - delay, 10 + FEWEST - delay))


def test_steps_beside_the_cube_are_used_while_there_are_too_few_others():
    evidence = Evidence(PUSH)
    evidence.add(steps_beside_cubes([0.03] * 10 + [0.2] * (FEWEST - 1)))
    assert fitted_steps(evidence) == list(range(10 + FEWEST - 1))
