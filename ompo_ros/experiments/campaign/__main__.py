"""`python -m ompo_ros.experiments.campaign`: plays faults on adaptation runs and prints the consequences."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from ompo_ros.experiments.campaign import fake_clock, sandbox
from ompo_ros.experiments.campaign.conduct import Conductor, PlayedRun
from ompo_ros.experiments.campaign.faults import DRIVERS, FCI, KINDS, Block, plan
from ompo_ros.experiments.campaign.limits import limits_behind
from ompo_ros.experiments.campaign.verdicts import Row, figures, judge

_STARTED = time.monotonic()
_INTERRUPTED = 130  # exit code, as shells give it


class Campaign:
    """All runs of one campaign, in one folder."""

    def __init__(self, folder: Path, seed: int, kinds: Sequence[str], drivers: Sequence[str], keep: bool) -> None:
        self._folder, self._seed, self._kinds, self._keep = folder, seed, kinds, keep
        self._drivers = drivers
        self._disk = folder / "disk"
        self._runs = 0
        self.rows: list[Row] = []
        if sandbox.is_inside():
            sandbox.furnish(self._disk)

    def play(self, rounds: int) -> None:
        """Play so many faults."""
        blocks = plan(self._seed, self._kinds, self._drivers)
        block: Block | None = None
        while rounds > 0:
            block = block or next(blocks)
            trimmed = Block(block.driver, block.faults[:rounds])
            result = self._play_run(trimmed)
            rounds -= len(result.played)
            if not result.played and not result.has_report:
                raise RuntimeError(f"a run does not start even without faults: see {result.run.current.log}")
            left = (*result.left, *block.faults[len(trimmed.faults) :])
            block = Block(block.driver, left) if left else None

    def _play_run(self, block: Block) -> PlayedRun:
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir(parents=True)
        run_dir = (self._disk if sandbox.is_inside() else folder) / f"run_dir-{self._runs}"
        self._runs += 1
        say(f"run {self._runs}, driver {block.driver or 'default'}: {len(block.faults)} faults to come")
        setting = sandbox.udp_only(folder) if block.uses("network") else nullcontext()
        with setting:
            result = Conductor(folder, run_dir, block, self._seed + self._runs, say).play()
        rows = judge(result, limits_behind(block.driver))
        self.rows += rows
        say(f"run {self._runs} {'has its report' if result.has_report else 'has NO report'}")
        for row in rows:
            say(f"  {row.what}: {row.outcome}")
        if sandbox.is_inside() and run_dir.exists():  # its disk is small, and goes with the namespaces
            if self._keep:
                shutil.copytree(run_dir, folder / run_dir.name)
            shutil.rmtree(run_dir)
        return result

    def close(self) -> None:
        """Delete everything that is not to be kept."""
        if sandbox.is_inside():
            sandbox.remove(self._disk)
        if not self._keep:
            shutil.rmtree(self._folder)


def say(text: str) -> None:
    """Print the campaign's progress."""
    sys.stdout.write(f"[{time.monotonic() - _STARTED:6.1f} s] {text}\n")
    sys.stdout.flush()


def table(rows: Sequence[Row]) -> str:
    """One line per fault."""
    cells = [("at", "driver", "fault", "outcome")]
    cells += [(f"{row.time:.1f} s", row.driver, row.what, row.outcome) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    lines = (
        " | ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])) for row in cells
    )
    return "\n".join(lines)


def playable(kinds: Sequence[str]) -> list[str]:
    """The kinds of fault that this machine and user can play."""
    has_sandbox = sandbox.is_inside() or (bool(set(kinds) & set(sandbox.NEEDED_BY)) and sandbox.is_possible())
    can = dict.fromkeys(sandbox.NEEDED_BY, has_sandbox) | {"clock": fake_clock.library() is not None}
    return [kind for kind in kinds if can.get(kind, True)]


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="campaign", description="Plays random faults on adaptation runs.")
    parser.add_argument("--rounds", type=int, default=100, help="faults to play")
    parser.add_argument("--seed", type=int, default=0, help="seed of kinds, times and durations")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of faults, separated by commas")
    parser.add_argument("--fci", action="store_true", help="on an FR3's stand-in behind its maker's protocol")
    parser.add_argument("--keep", type=Path, help="folder in which logs and recordings are left; it must be new")
    arguments = parser.parse_args()
    unknown = set(arguments.kinds.split(",")) - set(KINDS)
    if unknown:
        parser.error(f"--kinds: {', '.join(sorted(unknown))} is unknown, choose from {', '.join(KINDS)}")
    if arguments.keep and arguments.keep.exists() and not sandbox.is_inside():
        parser.error(f"--keep: {arguments.keep} exists already, choose a new folder")
    return arguments


def _interrupt(*_: object) -> None:
    """End the campaign once; a second signal does not interrupt the cleanup."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> None:
    """Play the campaign; exit code 1 when anything was violated."""
    arguments = parsed()
    asked = arguments.kinds.split(",")
    kinds = playable(asked)
    if set(kinds) & set(sandbox.NEEDED_BY) and not sandbox.is_inside():
        sandbox.enter(sys.argv[1:])
    for kind in asked:
        if kind not in kinds:
            say(f"skipped: {kind} cannot be played here, docs/campaign.md says what it needs")
    if not kinds:
        raise SystemExit(
            f"none of {', '.join(asked)} can be played on this machine: docs/campaign.md says what they need"
        )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    folder = (arguments.keep or Path(tempfile.mkdtemp(prefix="campaign-"))).resolve()
    drivers = (FCI,) if arguments.fci else DRIVERS
    campaign = Campaign(folder, arguments.seed, kinds, drivers, keep=arguments.keep is not None)
    try:
        campaign.play(arguments.rounds)
    except KeyboardInterrupt:
        say("interrupted: the runs that are over follow")
        sys.exit(_INTERRUPTED)
    finally:
        campaign.close()
        result = figures(campaign.rows, [kind for kind in asked if kind not in kinds])
        sys.stdout.write(f"{table(campaign.rows)}\n{json.dumps(result)}\n")
    broken = any(value for name, value in result.items() if name not in ("faults", "skipped"))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
