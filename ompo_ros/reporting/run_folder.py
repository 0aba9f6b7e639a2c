"""A run's record in its folder: written during the run, read again when it is resumed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ompo_ros.files import write_whole
from ompo_ros.reporting.record import Episode, RecordedEvaluation, RunRecord, Sample
from ompo_ros.reporting.table import Table

RECORD = "record.json"  # evaluations, and whether the run is finished
METRICS = "metrics.csv"  # samples
EPISODES = "episodes.csv"
REPORT = "report.md"  # made from the others


class RunFolder:
    """A record and its files; the constructor reads them and writes nothing."""

    def __init__(self, path: Path, target_steps: int) -> None:
        self.path = path
        self.samples = Table(path / METRICS, Sample)
        self._episodes = Table(path / EPISODES, Episode)
        self.damage = ""  # what is wrong with record.json
        try:
            evaluations = _evaluations(read_record(path))
        except (ValueError, TypeError, RecursionError) as error:
            self.damage, evaluations = f"{path / RECORD} is damaged ({error}): continuing without its evaluations", {}
        self.record = RunRecord(target_steps, **evaluations)
        for sample in self.samples:
            self.record.last = sample
        for episode in self._episodes:
            self.record.add_episode(episode)

    def add_sample(self, sample: Sample) -> None:
        self.record.last = sample
        self.samples.append(sample)

    def add_episode(self, episode: Episode) -> None:
        self.record.add_episode(episode)
        self._episodes.append(episode)

    def keep_evaluations(self) -> None:
        """Write what is not in the tables."""
        if self.damage:
            (self.path / RECORD).replace(self.path / f"{RECORD}.damaged")
            self.damage = ""
        record = self.record
        evaluations = {
            name: dataclasses.asdict(evaluation) if evaluation else None
            for name, evaluation in (("before", record.before), ("after", record.after))
        }
        write_whole(self.path / RECORD, json.dumps({**evaluations, "finished": record.finished}).encode())


def read_record(folder: Path) -> dict[str, Any]:
    """The content of record.json; empty if there is none."""
    path = folder / RECORD
    values = json.loads(path.read_text()) if path.exists() else {}
    if not isinstance(values, dict) or type(values.get("finished", 0)) is not int:
        raise ValueError("it is not a record")
    return values


def _evaluations(values: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: RecordedEvaluation(**values[name]) for name in ("before", "after") if values.get(name)}
    return {**made, "finished": values.get("finished", 0)}
