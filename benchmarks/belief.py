"""How near a belief comes to what targets hide, after 100, 250 and 500 of their steps; the shipped policy explores.

Usage: python benchmarks/belief.py [--gaps 4] [--seed 1]
Targets: `creeping` in both simulators, then drawn gaps of the expressible kind in order, whether they count or not.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import torch

from ompo_ros.experiments.gaps import make_rig, shipped_agent
from ompo_ros.experiments.rehearse import AgentPolicy
from ompo_ros.sim import gaps
from ompo_ros.sim.belief import Belief, PredictionError
from ompo_ros.sim.belief.coordinates import moments, slice_of, to_values
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.task.tasks import Task

REPORTED = (100, 250, 500)
REACH = Task("reach", "dense")
PARAMETERS = ("payload_mass", "action_gain", "action_bias")


def follow(simulator: str, domain: Domain, seed: int) -> None:
    """Fit after every episode, as a run does, and print a line per report."""
    rig = make_rig(simulator, domain, REACH, seed)
    rig.collector.player.policy = AgentPolicy(shipped_agent(REACH, seed))
    belief = Belief(REACH, "randomized", seed)
    truth = to_values(moments(domain)[0])
    delay = int(domain.drawn["command_delay"].distribution.support[0]) if "command_delay" in domain.drawn else 0
    spent = 0.0
    for episode in rig.episodes():
        if episode.transitions is None:
            continue
        belief.observe(episode.transitions)
        begun = time.process_time()
        belief.fit()
        spent += time.process_time() - begun
        if belief.target_steps in REPORTED:
            off = np.abs(belief.mean - truth)
            worst = "  ".join(f"{name} {off[slice_of(name)].max():.3f}" for name in PARAMETERS)
            error = belief.prediction_error or PredictionError(np.nan, np.nan)
            sys.stdout.write(
                f"{domain.name:14} {simulator:9} {belief.target_steps:4} steps  worst error: {worst}  "
                f"delay {belief.delay} (true {delay})  prediction {error.belief:.3f}, prior {error.prior:.3f}  "
                f"{spent:.1f} s of a core so far\n"
            )
            sys.stdout.flush()
        if belief.target_steps >= REPORTED[-1]:
            break


def main() -> None:
    """Measure one target after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gaps", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for simulator in ("mujoco", "panda_gym"):
        follow(simulator, load_domain("creeping"), arguments.seed)
    for index in range(arguments.gaps):
        follow(gaps.simulator_of(index), gaps.draw_gap("expressible", index), arguments.seed)


if __name__ == "__main__":
    main()
