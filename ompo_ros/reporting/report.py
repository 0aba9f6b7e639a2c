"""What is reported of a run: report.md, a short text, and curves.png."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ompo_ros.files import write_whole
from ompo_ros.reporting.belief_table import belief_section
from ompo_ros.reporting.record import WINDOW, RecordedEvaluation, RunRecord, Sample
from ompo_ros.reporting.resumption import PARAMETERS
from ompo_ros.reporting.run_folder import REPORT, RunFolder
from ompo_ros.reporting.verdict import verdict

_NAMESPACE = "ompo"
_DEPLOY = f"ros2 launch ompo_ros deploy.launch.py registry_dir:=policies params_file:={PARAMETERS}"
_ARM = {  # what leads a deployment to an arm, and how fast it may move: a policy has learned that speed
    "task": "reach",
    "reward": "dense",
    "robot": "panda",
    "driver": "",
    "target": "",
    "robot_ip": "",
    "target_domain": "nominal",
    "robot_namespace": "auto",
    "speed_scale": "1.0",
    "namespace": _NAMESPACE,
}
POINTS = 2000  # of a curve at most: more than the picture shows


def write_report(run: RunFolder, settings: Mapping[str, object]) -> Path:
    """Write the report and its curves into the run's folder; returns the report's path."""
    path = run.path / REPORT
    lines = [report(run.record, settings), *belief_section(run.path, settings)]
    write_whole(path, "\n".join(lines).encode())
    write_whole(run.path / "curves.png", curves(run.record, run.samples))
    return path


def thinned(samples: Iterable[Sample]) -> list[Sample]:
    """Every n-th sample and the last, n as small as `POINTS` allows; never holds many more at a time."""
    kept: list[Sample] = []
    stride = 1
    last: Sample | None = None
    for number, last in enumerate(samples):
        if number % stride == 0:
            kept.append(last)
        if len(kept) > POINTS:
            kept, stride = kept[::2], 2 * stride
    return kept if last is None or kept[-1] is last else [*kept, last]


def curves(record: RunRecord, samples: Iterable[Sample]) -> bytes:
    """Draw success, return and R over the target steps, as a PNG."""
    shown = thinned(samples)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    steps = [sample.target_steps for sample in shown]
    panels = (
        ("success on the target", [sample.success for sample in shown]),
        ("return on the target", [sample.episode_return for sample in shown]),
        ("R, local minus global", [sample.r_local - sample.r_global for sample in shown]),
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


def report(record: RunRecord, settings: Mapping[str, object]) -> str:
    """Say in Markdown what the run achieved, and with which settings."""
    last = record.last
    went_on = record.after is not None and record.finished != record.target_steps
    lines = [
        "# Adaptation run",
        "",
        verdict(record.before, record.after),
        "",
        "| | on the target, deterministic |",
        "|---|---|",
        f"| before | {_shown(record.before)} |",
        f"| after | {_shown(record.after)}{f' at {record.finished} target steps' if went_on else ''} |",
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
    is_real_time = float(str(settings.get("real_time_factor", 1.0))) == 1.0  # else the seconds are not the arm's
    if record.episodes and is_real_time:
        lines += [
            f"The arm moved for {record.moved:.0f} s in episodes that were learned from. {record.between:.0f} s passed "
            "in between: homing, waiting for the learner, interrupted episodes, evaluations by the gate.",
            "",
        ]
    lines += [
        *_next(record, settings),
        "README.md in this folder says what each file and each column of the tables is.",
        "",
    ]
    lines += ["| setting | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in settings.items()), ""]
    return "\n".join(lines)


def _next(record: RunRecord, settings: Mapping[str, object]) -> list[str]:
    """What to do with the result, on the arm that it was adapted to."""
    lines = []
    if record.after is not None and record.judgement is not None:
        lines += [f"Policy {record.after.policy_version} {record.judgement}.", ""]
        if not record.judgement.stable:
            activate = f"`ompo policy activate {record.after.policy_version} --registry policies`"
            lines += [f"{activate}, from this folder, makes it stable all the same.", ""]
    lines += ["Run the stable policy, from this folder:", "", "```"]
    lines += [f"{_DEPLOY}{_same_arm(settings)}"]
    lines += [f"ompo enable{_to_it(settings)}", f"ompo goal X Y Z{_to_it(settings)}"]
    return [*lines, "```", ""]


def _same_arm(settings: Mapping[str, object]) -> str:
    """The arguments that lead a deployment to the run's arm, where they are not its defaults."""
    given = {name: settings.get(name, default) for name, default in _ARM.items()}
    if given["target"] in ("real", "fci"):
        del given["target_domain"]
    return "".join(f" {name}:={value}" for name, value in given.items() if value != _ARM[name])


def _to_it(settings: Mapping[str, object]) -> str:
    """What leads a call to the deployment, where it is not in the usual namespace."""
    namespace = str(settings.get("namespace", _NAMESPACE)).strip("/")
    return "" if namespace == _NAMESPACE else f" --namespace /{namespace}"


def _shown(evaluation: RecordedEvaluation | None) -> str:
    return "not evaluated" if evaluation is None else f"{evaluation}, policy {evaluation.policy_version}"
