"""Measures how well methods follow an arm that changes while it works.

Usage: python -m ompo_ros.experiments.drift [--methods sac ompo_belief] [--seeds 0 1] [--episodes 300]
No evaluation interrupts the arm: success is that of the episodes it plays and learns from. A row of the CSV file is the
mean of ten episodes. Started again, it makes the missing runs. `--report` only draws table and figure.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from ompo_ros.experiments.compare import Job, gap_of, make_runs, point_of
from ompo_ros.experiments.comparison import Point, read, runs
from ompo_ros.experiments.comparison_figure import figure
from ompo_ros.experiments.comparison_tables import markdown
from ompo_ros.experiments.methods import DRIFTING, Protocol
from ompo_ros.experiments.rehearse import AgentPolicy, ArmHeld, Rig, make_rehearsal, rehearse
from ompo_ros.files import write_whole
from ompo_ros.learning import Agent
from ompo_ros.resources import networks_name
from ompo_ros.sim.gaps import Gap
from ompo_ros.task.tasks import EPISODE_STEPS, Float32Array

BLOCK: Final = 10  # episodes of a row
HALF_LIFE: Final = 100.0  # target steps after which evidence counts half: biases move by up to 0.16 in 50 of them
JUMP: Final = 100  # the episode at which the arm's load changes at once, as in config/domains/drifting.yaml
BEFORE: Final = 3  # rows before a jump that define the level to recover
WITHIN: Final = 0.05  # of success


class Frozen(AgentPolicy):
    """The shipped policy as deployed, without learning or exploration."""

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        return self.act(obs)


def follow(job: Job) -> list[Point]:
    """Play one run; one row per ten episodes."""
    method, begun = DRIFTING[job.method], time.process_time()
    rig, agent, sources = make_rehearsal(
        method.config(), networks_name("reach"), job.gap.simulator, job.gap.domain, belief=method.belief, seed=job.seed
    )
    if sources.belief is not None:
        sources.belief.forget(HALF_LIFE)
    pacing = method.paced(job.protocol.pacing)
    points: list[Point] = []
    successes: list[bool] = []
    steps = 0
    try:
        played = rehearse(rig, agent, sources, pacing) if method.adapts else _frozen(rig, agent, pacing.target_steps)
        for steps in played:
            successes.append(rig.last is not None and rig.last.success)
            if len(successes) % BLOCK == 0:
                success = float(np.mean(successes[-BLOCK:]))
                points.append(replace(point_of(job, agent, sources, steps, begun), success=success, episodes=BLOCK))
    except ArmHeld as reason:
        points.append(replace(point_of(job, agent, sources, steps + 1, begun), held=str(reason)))
    return points


def _frozen(rig: Rig, agent: Agent, target_steps: int) -> Iterator[int]:
    """Play a fixed policy; yields the target's steps after each whole episode."""
    rig.collector.player.policy = Frozen(agent)
    whole = (episode.steps for episode in rig.episodes() if episode.transitions is not None)
    yield from itertools.islice(itertools.accumulate(whole), target_steps // EPISODE_STEPS)


def recovery(run: Sequence[Point], jump: int) -> float:
    """Episodes after a jump until ten of them succeed as often as before; infinite if never."""
    after = [point for point in run if point.target_steps > jump * EPISODE_STEPS]
    before = [point.success for point in run if point.target_steps <= jump * EPISODE_STEPS][-BEFORE:]
    if not after or not before:
        return float("nan")
    wanted = float(np.mean(before)) - WITHIN
    if after[0].success >= wanted:
        return 0.0
    back = (point.target_steps / EPISODE_STEPS - jump for point in after if point.success >= wanted)
    return next(back, float("inf"))


def table(points: Sequence[Point]) -> str:
    """One row per method, in Markdown."""
    heads = ["method", "runs", "success, all episodes", "worst run", f"worst {BLOCK} episodes"]
    heads += ["episodes to recover from the jump, each run"]
    grouped, rows = runs(points), []
    for method in DRIFTING:
        of_method = [run for key, run in grouped.items() if key[1] == method]
        if not of_method:
            continue
        means = [float(np.mean([point.success for point in run])) for run in of_method]
        cells = [method, str(len(of_method)), f"{np.mean(means):.2f}", f"{min(means):.2f}"]
        cells += [f"{min(point.success for run in of_method for point in run):.1f}"]
        rows.append([*cells, ", ".join(f"{recovery(run, JUMP):.0f}" for run in of_method)])
    return markdown(heads, rows)


def report(path: Path) -> str:
    """Draw table and figure beside the rows; returns the table."""
    points = read(path)
    text = table(points)
    write_whole(path.with_suffix(".md"), text.encode())
    write_whole(path.with_suffix(".png"), figure(points, list(DRIFTING)))
    return text


def main() -> None:
    """Make the runs that are missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", type=gap_of, default=Gap("mujoco", "drifting"), metavar="[SIMULATOR:]DOMAIN")
    parser.add_argument("--methods", nargs="+", choices=DRIFTING, default=list(DRIFTING))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--update-to-data", type=float, default=2.0)
    parser.add_argument("--source-ratio", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/results/drift.csv"))
    parser.add_argument("--report", action="store_true", help="only draw table and figure")
    arguments = parser.parse_args()
    if not arguments.report:
        points = tuple(range(0, arguments.episodes * EPISODE_STEPS + 1, BLOCK * EPISODE_STEPS))
        protocol = Protocol(arguments.update_to_data, arguments.source_ratio, warmup=500, points=points)
        every = itertools.product(arguments.seeds, arguments.methods)
        make_runs([Job(arguments.gap, method, seed, protocol) for seed, method in every], arguments, report, follow)
    else:
        sys.stdout.write(report(arguments.out))


if __name__ == "__main__":
    main()
