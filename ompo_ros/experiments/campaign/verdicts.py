"""Turns the observations of a run into one row per fault, and a campaign's rows into its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ompo_ros.experiments.campaign.checks import Violation, brakes_in_time, reconstruct
from ompo_ros.experiments.campaign.commands import Motion
from ompo_ros.experiments.campaign.conduct import PlayedFault, PlayedRun
from ompo_ros.experiments.campaign.evidence import Standing, is_lost
from ompo_ros.experiments.campaign.limits import Limits
from ompo_ros.experiments.campaign.recorded import TOLERATED, unreadable_recordings
from ompo_ros.experiments.campaign.recording import Disturbances, Recording, read_recording

_AFTER = 1.5  # s of motion judged after the last command of a launch


@dataclass
class Row:
    """A fault and its consequences; the time before a run's first fault is a row too."""

    what: str
    time: float  # s since the run began
    driver: str
    violations: list[Violation] = field(default_factory=list)
    late_hold: bool = False
    transitions_lost: int = 0
    policies_lost: int = 0
    recordings_lost: int = 0
    not_resumed: bool = False
    reflexes: int = 0  # of the robot itself, in the whole run
    unheard: int = 0  # commands that the observer missed; the motion until the next rest is not judged
    is_fault: bool = True

    @property
    def outcome(self) -> str:
        told = [self._violations()] if self.violations else []
        told += ["late hold"] if self.late_hold else []
        told += [f"{self.transitions_lost} transitions lost"] if self.transitions_lost else []
        told += [f"{self.policies_lost} policies lost"] if self.policies_lost else []
        told += [f"{self.recordings_lost} recordings lost"] if self.recordings_lost else []
        told += [f"{self.reflexes} reflexes"] if self.reflexes else []
        told += ["run not resumed"] if self.not_resumed else []
        return ", ".join(told) or "ok"

    def _violations(self) -> str:
        worst = max(self.violations, key=lambda violation: violation.ratio)
        return (
            f"{len(self.violations)} limits exceeded (worst: {worst.kind} x{worst.ratio:.2f}, joint {worst.joint + 1})"
        )


def judge(run: PlayedRun, limits: Limits) -> list[Row]:
    """One row per fault, after one for the time before them."""
    began = run.run.launches[0].begin
    driver = run.driver or "default"
    rows = [Row("no fault yet", 0.0, driver, is_fault=False)]
    rows += [Row(str(played), played.injection.begin - began, driver) for played in run.played]
    cuts = [(p.injection.begin, p.injection.end) for p in run.played if p.fault.kind == "network"]
    recording = read_recording(run.recording, Disturbances(run.clock_offsets, cuts))
    begins = [-math.inf, *(played.injection.begin for played in run.played)]
    motions = _motions(run, recording, limits)
    for _, violations in motions:
        for violation in violations:
            rows[int(np.searchsorted(begins, violation.time, side="right")) - 1].violations.append(violation)
    for before, command in pairwise(recording.commands):
        rows[int(np.searchsorted(begins, command.received, side="right")) - 1].unheard += recording.missed(
            before, command
        )
    for row, played, following in zip(rows[1:], run.played, [*begins[1:], math.inf][1:], strict=True):
        row.late_hold = _is_late(played, [motion for motion, _ in motions], limits)
        row.transitions_lost = _transitions_lost(played, following, recording)
        row.recordings_lost = int(played.recording_gap > TOLERATED)
    for index, _ in _lost_policies(run):
        rows[index + 1].policies_lost += 1
    rows[-1].not_resumed, rows[-1].reflexes = not run.has_report, run.run.reflexes
    rows[-1].recordings_lost += unreadable_recordings(run.run.run_dir)
    return rows


def figures(rows: Sequence[Row], skipped: Sequence[str]) -> dict[str, object]:
    """The campaign in one object."""
    return {
        "faults": sum(row.is_fault for row in rows),
        "limit_violations": sum(len(row.violations) for row in rows),
        "late_holds": sum(row.late_hold for row in rows),
        "transitions_lost": sum(row.transitions_lost for row in rows),
        "not_resumed": sum(row.not_resumed for row in rows),
        "policies_lost": sum(row.policies_lost for row in rows),
        "recordings_lost": sum(row.recordings_lost for row in rows),
        "reflexes": sum(row.reflexes for row in rows),
        "unheard_commands": sum(row.unheard for row in rows),
        "skipped": list(skipped),
    }


def _motions(run: PlayedRun, recording: Recording, limits: Limits) -> list[tuple[Motion, list[Violation]]]:
    """The arm's motion, launch by launch, since each starts its own driver, and piece by piece as it was heard."""
    begins = [launch.begin for launch in run.run.launches]
    motions = []
    for begin, end in zip(begins, [*begins[1:], math.inf], strict=True):
        pieces = recording.motions_between(begin, end)
        ends = [*(commands[0].received for commands, _ in pieces[1:]), end]
        for (commands, start), following in zip(pieces, ends, strict=False):  # a launch may be without motion
            until = min(following, commands[-1].received + _AFTER)
            motions.append(reconstruct(commands, start, limits, until))
    return motions


def _is_late(played: PlayedFault, motions: Sequence[Motion], limits: Limits) -> bool:
    begin = played.injection.begin
    if not played.fault.concerns_motion:
        return False
    under_way = [motion for motion in motions if motion.times[0] <= begin <= motion.times[-1]]
    return any(brakes_in_time(motion, begin, played.injection.end, limits.period) is False for motion in under_way)


def _transitions_lost(played: PlayedFault, following: float, recording: Recording) -> int:
    """Transitions that the newest checkpoint held and the learner has lost."""
    begin = played.injection.begin
    before = [steps for time, steps in recording.target_steps if time < begin]
    after = [steps for time, steps in recording.target_steps if begin <= time < following]
    if not before or not after:
        return 0
    return max(0, min(before[-1], played.safe_steps) - min(after))


def _lost_policies(run: PlayedRun) -> list[tuple[int, Standing]]:
    """Policies in use that are gone at the end, each once, with the last fault before which it was there."""
    damaged = {played.injection.damaged.name for played in run.played if played.injection.damaged}
    channels_known = "registry.json" not in damaged
    last_stood: dict[tuple[str, str], tuple[int, Standing]] = {}
    for index, played in enumerate(run.played):
        for policy in played.standing:
            last_stood[policy.channel, policy.weights] = (index, policy)
    return [
        (index, policy)
        for index, policy in last_stood.values()
        if policy.file not in damaged and is_lost(policy, run.run.run_dir, channels_known=channels_known)
    ]
