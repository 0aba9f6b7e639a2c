"""Finds the gaps of the benchmark: draws arms by a seed and keeps those that count.

Usage: python -m ompo_ros.experiments.gaps [--folder config/domains/gaps] [--kinds push]
The rule and the distributions are in ompo_ros.sim.gaps. Every candidate is recorded with its figures; an interrupted
search continues after the last one.
"""

from __future__ import annotations

import argparse
import csv
import io
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np
import torch

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.rehearse import AgentPolicy, ArmHeld, Rig
from ompo_ros.experiments.settings import shipped_agent
from ompo_ros.files import write_whole
from ompo_ros.learning import Agent
from ompo_ros.sim import gaps
from ompo_ros.sim.domain import Domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.sim.parameters import COLUMN_COUNT, DomainValues
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

SCREENED, CONFIRMED = 20, 50  # episodes of an evaluation
EVERY, LONGEST = 500, 3000  # target steps between two evaluations, and until it is given up
UPDATES = 4  # per target step


def make_rig(simulator: str, domain: Domain, task: Task, seed: int) -> Rig:
    """The stand-in of a candidate and its collector."""
    robot = load_robot("panda")
    arm = make_stand_in(simulator, domain, task, robot, seed=seed, command_timeout=0.5)
    return Rig(arm, Collector(robot, task, seed=seed, cube_rest_time=0.0))


def train_alone(rig: Rig, agent: Agent) -> tuple[float, int]:
    """Success after training on this arm alone, and the steps used: the first that suffice, or all."""
    rig.collector.player.policy = AgentPolicy(agent)
    success, steps, playing = 0.0, 0, rig.episodes()
    while steps < LONGEST:
        episode = next(playing)
        if episode.transitions is None:
            continue
        agent.observe(episode.transitions)
        agent.update(UPDATES * len(episode.transitions))
        steps += len(episode.transitions)
        if steps % EVERY == 0:
            success, _ = rig.evaluate(agent, SCREENED)
            if success >= gaps.TRAINED_FROM:
                success, _ = rig.evaluate(agent, CONFIRMED)
            if success >= gaps.TRAINED_FROM:
                break
    return success, steps


def tell(rig: Rig, agent: Agent, domain: Domain) -> tuple[float, int]:
    """Success of the shipped policy once it is told the drives' true gains and biases, without a step on the arm."""
    values, one = DomainValues(1), np.array([0])
    domain.draw(values, one, np.zeros((1, COLUMN_COUNT)), np.zeros((1, COLUMN_COUNT)))  # constants only
    agent.compensate(values["action_gain"][0], values["action_bias"][0])
    return rig.evaluate(agent, CONFIRMED)[0], 0


def measure(kind: str, index: int, folder: Path) -> dict[str, str]:
    """Draw a candidate, judge it, and write its domain file if it counts."""
    simulator, drawn = gaps.simulator_of(index), gaps.draw_gap(kind, index)
    task = Task(gaps.task_of(kind), "dense")
    rig, agent = make_rig(simulator, drawn, task, index), shipped_agent(task, index)
    shipped, trained, steps = 0.0, 0.0, 0
    try:
        shipped, _ = rig.evaluate(agent, CONFIRMED)
        if shipped < gaps.SHIPPED_BELOW:
            trained, steps = tell(rig, agent, drawn) if kind == "push" else train_alone(rig, agent)
    except ArmHeld as held:
        sys.stdout.write(f"{kind} {index}: {held}\n")
    counts = shipped < gaps.SHIPPED_BELOW and trained >= gaps.TRAINED_FROM
    if counts:
        comment = f"Drawn by ompo_ros.sim.gaps, seed {gaps.SEED}; for {simulator}."
        write_domain(drawn, folder / f"{drawn.name}.yaml", comment)
    figures = (kind, index, simulator, f"{shipped:.2f}", f"{trained:.2f}", steps, "yes" if counts else "no")
    return dict(zip(gaps.COLUMNS, map(str, figures), strict=True))


def _write_record(rows: list[dict[str, str]], folder: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, gaps.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(folder / gaps.RECORD, text.getvalue().encode())


def search(folder: Path, kinds: Sequence[str]) -> None:
    """Measure candidates in order, each kind in its own process, until enough of each count."""
    rows = gaps.read_record(folder)

    def ask(kind: str) -> None:
        own = [row for row in rows if row["kind"] == kind]
        if sum(row["counts"] == "yes" for row in own) < gaps.WANTED[kind]:
            asked.add(processes.submit(measure, kind, len(own), folder))

    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(kinds), spawned, torch.set_num_threads, (1,)) as processes:
        asked: set[Future[dict[str, str]]] = set()
        for kind in kinds:
            ask(kind)
        while asked:
            done, asked = wait(asked, return_when=FIRST_COMPLETED)
            for row in (future.result() for future in done):
                rows.append(row)
                _write_record(rows, folder)
                sys.stdout.write(" ".join(f"{name} {value}" for name, value in row.items()) + "\n")
                sys.stdout.flush()
                ask(row["kind"])


def main() -> None:
    """Start or continue the search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(gaps.FOLDER))
    parser.add_argument("--kinds", nargs="*", choices=gaps.WANTED, default=list(gaps.WANTED))
    given = parser.parse_args()
    search(given.folder, given.kinds)


if __name__ == "__main__":
    main()
