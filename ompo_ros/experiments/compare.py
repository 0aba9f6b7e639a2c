"""Rehearses gaps x methods x seeds in parallel processes, and reports how fast each method adapts.

Usage: python -m ompo_ros.experiments.compare --gaps creeping mujoco:hidden --methods sac ompo_belief --seeds 0 1 2
Each run's rows are added to the CSV file in one write as soon as it is done. Started again, it makes the missing runs.
`--report` makes no runs and only draws table and figure beside the CSV file.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from ompo_ros.experiments.comparison import Point, append, evaluated_steps, read, runs
from ompo_ros.experiments.comparison_figure import figure
from ompo_ros.experiments.comparison_tables import (
    ADDED,
    WEIGHTS,
    gaps_table,
    methods_table,
    parts_table,
    shared_table,
)
from ompo_ros.experiments.methods import MAIN, METHODS, PARTS, Protocol
from ompo_ros.experiments.rehearse import ArmHeld, Rig, Sources, make_rehearsal, rehearse
from ompo_ros.experiments.settings import node_settings
from ompo_ros.files import InUse, lock, write_whole
from ompo_ros.learning import Agent
from ompo_ros.learning.metrics import Metrics
from ompo_ros.orphans import end_with_parent
from ompo_ros.resources import networks_name
from ompo_ros.sim.gaps import WANTED, Gap, benchmark, kind_of, task_of
from ompo_ros.sim.stand_in import SIMULATORS
from ompo_ros.transitions import Origin

_KILLED = "its process was killed, perhaps for want of memory"
BENCHMARK = "benchmark"  # the benchmark of ompo_ros.sim.gaps


def gap_of(text: str) -> Gap:
    """Read `simulator:domain`; alone, a domain of the benchmark has its own simulator, another one panda-gym."""
    simulator, _, domain = text.rpartition(":")
    if simulator and simulator not in SIMULATORS:
        raise argparse.ArgumentTypeError(f"{simulator} is not a simulator: choose {', '.join(SIMULATORS)}")
    own = next((gap.simulator for gap in benchmark() if gap.domain == domain), "")
    if simulator and own and simulator != own:
        raise argparse.ArgumentTypeError(f"{domain} of the benchmark is an arm in {own}, not in {simulator}")
    return Gap(simulator or own or SIMULATORS[0], domain)


def gaps_of(text: str) -> list[Gap]:
    """One gap, or those of the benchmark: all, or of one kind."""
    if text in (BENCHMARK, *WANTED):
        return [gap for gap in benchmark() if text in (BENCHMARK, gap.kind)]
    return [gap_of(text)]


@dataclass(frozen=True)
class Job:
    """One run of the comparison."""

    gap: Gap
    method: str
    seed: int
    protocol: Protocol


def play(job: Job) -> list[Point]:
    """Rehearse one run, with an evaluation at every point of the protocol."""
    method, protocol, begun = METHODS[job.method], job.protocol, time.process_time()
    task = task_of(job.gap.kind)
    rig, agent, sources = make_rehearsal(
        method.config(task),
        networks_name(task),
        job.gap.simulator,
        job.gap.domain,
        belief=method.belief,
        seed=job.seed,
        task_name=task,
    )
    points: list[Point] = []
    steps = 0
    try:
        if not method.adapts:
            return [_evaluated(job, rig, agent, sources, 0, begun)]
        for steps in rehearse(rig, agent, sources, method.paced(protocol.pacing)):
            if steps in protocol.points:
                points.append(_evaluated(job, rig, agent, sources, steps, begun))
    except ArmHeld as reason:
        points.append(replace(point_of(job, agent, sources, steps + 1, begun), held=str(reason)))
    return points


def _evaluated(job: Job, rig: Rig, agent: Agent, sources: Sources, steps: int, begun: float) -> Point:
    episodes = job.protocol.episodes_at(steps)
    success, mean_return = rig.evaluate(agent, episodes)
    point = point_of(job, agent, sources, steps, begun)
    return replace(point, success=success, mean_return=mean_return, episodes=episodes)


def point_of(job: Job, agent: Agent, sources: Sources, steps: int, begun: float) -> Point:
    """A run's costs and metrics so far; the caller adds success."""
    figures = agent.rating.readings(agent.normalizer) if agent.rating is not None else {}
    metrics = Metrics(figures)
    error = sources.belief.prediction_error if sources.belief is not None else None
    return Point(
        gap=str(job.gap),
        method=job.method,
        seed=job.seed,
        target_steps=steps,
        success=0.0,
        mean_return=math.nan,
        episodes=0,
        updates=agent.updates,
        source_steps=agent.experience.seen[Origin.SOURCE],
        update_to_data=job.protocol.update_to_data,
        source_ratio=job.protocol.source_ratio,
        prediction_error=error.belief if error is not None else math.nan,
        held_out_loss=metrics.get("R_held_out_loss", math.nan),
        slope=metrics.get("R_slope", math.nan),
        replay_ess=metrics.get("replay_ess", math.nan),
        weight_target=metrics.get("replay_weight_target", math.nan),
        weight_source=metrics.get("replay_weight_source", math.nan),
        seconds=time.process_time() - begun,
        held="",
    )


def missing(jobs: Sequence[Job], path: Path) -> list[Job]:
    """The jobs without runs in the file; ValueError if the file holds runs of another protocol."""
    done = runs(read(path))
    for job in jobs:
        run = done.get((str(job.gap), job.method, job.seed))
        if run is not None and not _is_of(run, job.protocol):
            raise ValueError(
                f"{path} holds {job.method} on {job.gap} with {run[-1].target_steps} steps, "
                f"{run[-1].update_to_data:g} updates and {run[-1].source_ratio:g} source steps a step: "
                "ask for the same, or choose another --out"
            )
    return [job for job in jobs if (str(job.gap), job.method, job.seed) not in done]


def _is_of(run: Sequence[Point], protocol: Protocol) -> bool:
    last = run[-1]
    ended = last.held or last.target_steps in (0, protocol.target_steps)
    return bool(ended) and (last.update_to_data, last.source_ratio) == (protocol.update_to_data, protocol.source_ratio)


def compare(jobs: Sequence[Job], path: Path, processes: int, make: Callable[[Job], list[Point]] = play) -> int:
    """Make the missing runs and return how many failed; those are made again at the next start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock(path):
        return _compare(list(dict.fromkeys(jobs)), path, processes, make)


def _compare(jobs: Sequence[Job], path: Path, processes: int, make: Callable[[Job], list[Point]]) -> int:
    left = missing(jobs, path)
    sys.stderr.write(f"{len(jobs) - len(left)} of {len(jobs)} runs are done\n")
    begun, failed = time.monotonic(), 0
    threads = ThreadPoolExecutor(processes)
    asked = {threads.submit(_make_alone, make, job): job for job in left}
    try:
        for done, future in enumerate(as_completed(asked), start=1):
            job = asked[future]
            try:
                points = future.result()
            except Exception as error:
                why = _KILLED if isinstance(error, BrokenProcessPool) else repr(error)
                sys.stderr.write(f"{job.gap} {job.method} seed {job.seed} failed: {why}\n")
                failed += 1
                continue
            append(path, points)
            seconds = (time.monotonic() - begun) / done * (len(left) - done)
            curve = " ".join(f"{point.success:.2f}" for point in points) + (" held" if points[-1].held else "")
            sys.stderr.write(
                f"{done} of {len(left)}, {seconds / 60:.0f} min left: {job.gap} {job.method} seed {job.seed}: {curve}\n"
            )
    finally:
        threads.shutdown(cancel_futures=True)
    return failed


def _make_alone(make: Callable[[Job], list[Point]], job: Job) -> list[Point]:
    """Make a run in a process of its own: one that is killed costs no other run."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=end_with_parent) as process:
        return process.submit(make, job).result()


def report(path: Path) -> str:
    """Draw tables, two per benchmark and three per kind of gap, and the figure beside the rows; returns the tables."""
    points = read(path)
    tasks: dict[str, list[Point]] = {}
    kinds: dict[str, list[Point]] = {}
    for point in points:
        kind = kind_of(point.gap)
        tasks.setdefault(task_of(kind) if kind else "chosen", []).append(point)
        kinds.setdefault(kind or "chosen", []).append(point)
    fair = (f"## {task}, gaps and seeds in common\n\n{_fair(of)}" for task, of in sorted(tasks.items()))
    each = (f"## {kind} gaps\n\n{_tables(of)}" for kind, of in sorted(kinds.items()))
    text = "\n".join([*fair, *each])
    write_whole(path.with_suffix(".md"), text.encode())
    write_whole(path.with_suffix(".png"), figure(points, list(METHODS)))
    return text


def _fair(points: Sequence[Point]) -> str:
    asked = {"All methods": list(METHODS), "Main methods": MAIN}
    return "\n".join(f"{title}. {shared_table(points, _reported(points), of)}" for title, of in asked.items())


def _reported(points: Sequence[Point]) -> list[int]:
    return [each for each in evaluated_steps(points) if each in _protocol().reported]


def _tables(points: Sequence[Point]) -> str:
    """The tables of one kind of gap, each with a line that says what it holds."""
    steps = _reported(points)
    named = " ".join(f"{each:,}" for each in steps)
    tables = {
        f"All gaps and seeds. {WEIGHTS}": methods_table(points, steps, list(METHODS)),
        f"Each gap, mean of its seeds after {named} steps": gaps_table(points, steps, list(METHODS)),
        f"What each part adds to success, on the same gap and seed. {ADDED}": parts_table(points, steps, PARTS),
    }
    return "\n".join(f"{title}\n\n{table}" for title, table in tables.items() if table)


def _protocol() -> Protocol:
    settings = node_settings("learner")
    return Protocol(settings["update_to_data"], settings["source_ratio"], settings["warmup"])


def main() -> None:
    """Make the runs that are missing, then report."""
    arguments = _parse()
    if not arguments.report:
        protocol = replace(_protocol(), update_to_data=arguments.update_to_data, source_ratio=arguments.source_ratio)
        protocol = replace(protocol, points=tuple(point for point in protocol.points if point <= arguments.steps))
        every = itertools.product(
            arguments.seeds, itertools.chain(*(arguments.gaps or [gaps_of(BENCHMARK)])), arguments.methods
        )
        make_runs([Job(gap, method, seed, protocol) for seed, gap, method in every], arguments, report)
    else:
        sys.stdout.write(report(arguments.out))


def make_runs(
    jobs: Sequence[Job],
    arguments: argparse.Namespace,
    tell: Callable[[Path], str],
    make: Callable[[Job], list[Point]] = play,
) -> None:
    """Make the missing runs and report those that are there; exit and say why if some are not."""
    try:
        failed = compare(jobs, arguments.out, arguments.processes, make)
    except InUse:
        sys.exit(f"{arguments.out} is in use by another process")
    except ValueError as error:
        sys.exit(str(error))
    sys.stdout.write(tell(arguments.out))
    if failed:
        sys.exit(f"{failed} runs failed: start again to make them")


def _parse() -> argparse.Namespace:
    protocol = _protocol()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    help_gaps = f"[SIMULATOR:]DOMAIN, {BENCHMARK}, or of it {' or '.join(WANTED)}"
    parser.add_argument("--gaps", nargs="+", type=gaps_of, metavar="GAP", help=help_gaps)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--steps", type=int, choices=protocol.points, default=protocol.target_steps)
    parser.add_argument("--update-to-data", type=float, default=protocol.update_to_data)
    parser.add_argument("--source-ratio", type=float, default=protocol.source_ratio)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/results/comparison.csv"))
    parser.add_argument("--report", action="store_true", help="only draw table and figure")
    return parser.parse_args()


if __name__ == "__main__":
    main()
