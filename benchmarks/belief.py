"""How near a belief comes to what targets hide, after 100, 250 and 500 of their steps; the shipped policy explores.

Usage: python benchmarks/belief.py [--seed 1] [--gaps 8]
Targets: `creeping` in both simulators, then the benchmark's expressible arms. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import torch

from ompo_ros.experiments.gaps import make_rig
from ompo_ros.experiments.rehearse import AgentPolicy
from ompo_ros.experiments.settings import shipped_agent
from ompo_ros.sim import gaps
from ompo_ros.sim.belief import Belief, PredictionError
from ompo_ros.sim.belief.coordinates import moments, slice_of, to_values
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.task.tasks import Task

REPORTED = (100, 250, 500)
REACH = Task("reach", "dense")
HEAD = f"{'target':26}  steps    gains   biases  payload, kg  delay right  prediction    prior  s of a core"


@dataclass(frozen=True)
class Report:
    """The worst error of the seven joints, and how well the next step is predicted, in units of the motion."""

    target: str
    steps: int
    gains: float
    biases: float
    payload: float
    delay_is_right: bool
    prediction: float
    prior: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.target:26}{self.steps:7}{self.gains:9.2f}{self.biases:9.2f}{self.payload:13.2f}"
            f"{self.delay_is_right!s:>13}{self.prediction:12.2f}{self.prior:9.2f}{self.seconds:13.1f}"
        )


def follow(simulator: str, domain: Domain, seed: int) -> Iterator[Report]:
    """Fit after every episode, as a run does."""
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
            gain, bias, payload = (
                float(off[slice_of(name)].max()) for name in ("action_gain", "action_bias", "payload_mass")
            )
            error = belief.prediction_error or PredictionError(np.nan, np.nan)
            yield Report(
                f"{domain.name}, {simulator}",
                belief.target_steps,
                gain,
                bias,
                payload,
                belief.delay == delay,
                error.belief,
                error.prior,
                spent,
            )
        if belief.target_steps >= REPORTED[-1]:
            break


def _rounded(report: Report) -> dict[str, object]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(report).items()}


def main() -> None:
    """Measure one target after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gaps", type=int, default=8, help="of the benchmark, in order")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    drawn = [(gap.simulator, gap.domain) for gap in gaps.benchmark() if gap.kind == "expressible"][: arguments.gaps]
    sys.stdout.write(f"{HEAD}\n")
    reports = []
    for simulator, domain in [("mujoco", "creeping"), ("panda_gym", "creeping"), *drawn]:
        for report in follow(simulator, load_domain(domain), arguments.seed):
            sys.stdout.write(f"{report}\n")
            sys.stdout.flush()
            reports.append(_rounded(report))
    sys.stdout.write(json.dumps({"seed": arguments.seed, "reports": reports}) + "\n")


if __name__ == "__main__":
    main()
