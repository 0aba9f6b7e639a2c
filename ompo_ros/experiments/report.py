"""What a run's folder tells of it: metrics.csv, curves.png and a short report.md; record.json to go on with."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ompo_ros.experiments.record import WINDOW, Evaluation, RunRecord, Sample
from ompo_ros.files import write_whole

RECORD = "record.json"


def resumed_record(folder: Path, target_steps: int) -> RunRecord:
    """The record of the run in this folder as far as it got; an empty one for a new run."""
    path = folder / RECORD
    return RunRecord.from_dict(json.loads(path.read_text()), target_steps) if path.exists() else RunRecord(target_steps)


def write_run(folder: Path, record: RunRecord, settings: Mapping[str, object]) -> Path:
    """Write everything that is told of a run; returns the report's path."""
    write_whole(folder / RECORD, json.dumps(record.to_dict()).encode())
    write_whole(folder / "metrics.csv", _csv(record).encode())
    write_whole(folder / "curves.png", _curves(record))
    report = folder / "report.md"
    write_whole(report, _report(record, settings).encode())
    return report


def _csv(record: RunRecord) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(field.name for field in dataclasses.fields(Sample))
    writer.writerows(dataclasses.astuple(sample) for sample in record.samples)
    return text.getvalue()


def _curves(record: RunRecord) -> bytes:
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    steps = [sample.target_steps for sample in record.samples]
    panels = (
        ("success on the target", [sample.success for sample in record.samples]),
        ("return on the target", [sample.episode_return for sample in record.samples]),
        ("R, local minus global", [sample.r_local - sample.r_global for sample in record.samples]),
    )
    for place, (title, values) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        axes.plot(steps, values)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("target steps")
        axes.grid(alpha=0.3)
        if place == 0:
            axes.set_ylim(-0.02, 1.02)
            for evaluation, where in ((record.before, 0), (record.after, steps[-1] if steps else 0)):
                if evaluation is not None:
                    axes.plot([where], [evaluation.success_rate], "o", color="black")
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    return image.getvalue()


def _report(record: RunRecord, settings: Mapping[str, object]) -> str:
    last = record.samples[-1] if record.samples else None
    lines = [
        "# Adaptation run",
        "",
        "| | on the target, deterministic |",
        "|---|---|",
        f"| before | {_told(record.before)} |",
        f"| after | {_told(record.after)} |",
        "",
        "![curves](curves.png)",
        "",
        f"The curves show exploration, over the last {WINDOW} episodes; the dots are the deterministic evaluations.",
        "",
    ]
    if last is not None:
        lines += [
            f"{last.target_steps} target steps in {record.episodes} episodes ({record.dropped} dropped), "
            f"{last.source_steps} source steps, {last.updates} updates, {last.seconds:.0f} s.",
            "",
        ]
    lines += ["| setting | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in settings.items()), ""]
    return "\n".join(lines)


def _told(evaluation: Evaluation | None) -> str:
    return "not evaluated" if evaluation is None else f"{evaluation}, policy {evaluation.policy_version}"
