"""How a run goes, in one line: plain for a file, with a bar for a terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ompo_ros.reporting.record import WINDOW, RunRecord, Sample

_BAR = 20  # characters


@dataclass(frozen=True)
class Progress:
    """A stage of a run: its name, how much of it is done (0 to 1, or unknown), and figures."""

    stage: str
    done: float | None = None
    figures: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        return " | ".join((self.stage, *self.figures))

    @property
    def drawn(self) -> str:
        if self.done is None:
            return self.plain
        full = round(_BAR * min(max(self.done, 0.0), 1.0))
        return f"{'█' * full}{'░' * (_BAR - full)} {self.plain}"


def waiting(for_what: str) -> Progress:
    """Before a run, or without an end in sight."""
    return Progress(f"waiting for {for_what}")


def evaluating(what: str, played: int, wanted: int, successes: int) -> Progress:
    """While a policy is evaluated."""
    figures = (f"success {successes / played:.0%}",) if played else ()
    return Progress(f"evaluating {what}: {played}/{wanted} episodes", played / wanted, figures)


def paused(record: RunRecord) -> Progress:
    """While the learner is paused, and with it the arm."""
    sample = record.last
    return Progress(f"paused at {_steps(sample, record) if sample else 'the start'}: the arm holds")


def exploring(record: RunRecord, updates_due: int) -> Progress:
    """While the arm explores, and while updates are caught up after that."""
    sample = record.last
    if sample is None:
        return waiting("the first steps on the target")
    if 0 < record.target_steps <= sample.target_steps:
        return _catching_up(record, sample, updates_due)
    pace = sample.target_steps / sample.seconds if sample.seconds > 0 else 0.0
    left = (record.target_steps - sample.target_steps) / pace if pace and record.target_steps else math.nan
    done = sample.target_steps / record.target_steps if record.target_steps else None
    episodes = f"{record.episodes} episode{'' if record.episodes == 1 else 's'}"
    return Progress(f"{_steps(sample, record)}, {episodes}", done, (*_time_left(left), *_figures(record, sample)))


def _catching_up(record: RunRecord, sample: Sample, due: int) -> Progress:
    rate = sample.updates_per_second
    stage = f"{_steps(sample, record)} taken, catching up {due} updates"
    done = sample.updates / (sample.updates + due) if due else 1.0
    return Progress(stage, done, (*_time_left(due / rate if rate > 0 else math.nan), *_figures(record, sample)))


def _steps(sample: Sample, record: RunRecord) -> str:
    return f"{sample.target_steps}/{record.target_steps or '∞'} steps"


def _figures(record: RunRecord, sample: Sample) -> tuple[str, ...]:
    """Those that are known already, what matters most first: a narrow terminal shows no more."""
    success, value = record.now
    gap = sample.r_local - sample.r_global
    figures = {
        f"success {success:.0%}{_at_first(record)}": success,
        f"policy {sample.policy_version}": sample.policy_version,
        f"gap {gap:+.2f}": gap,
        f"{sample.updates_per_second:.0f} updates/s": sample.updates_per_second,
        f"return {value:.2f}": value,
    }
    return tuple(text for text, figure in figures.items() if not math.isnan(figure))


def _at_first(record: RunRecord) -> str:
    """The success that exploration began with, once the latest episodes are others."""
    return f" ({record.at_start[0]:.0%} at first)" if record.episodes > WINDOW else ""


def _time_left(seconds: float) -> tuple[str, ...]:
    return () if math.isnan(seconds) else (f"{int(seconds // 60)}:{int(seconds % 60):02d} left",)
