"""README.md of a run's folder: what each file is, and each column of its tables."""

from __future__ import annotations

import dataclasses

from ompo_ros.reporting.record import Episode, Sample

README = "README.md"
_FILES = {
    "report.md, curves.png": "The result: whether adaptation worked, by how much and how sure. Written when the "
    "run ends or is interrupted.",
    "metrics.csv": "One row per status of the learner, about one a second.",
    "episodes.csv": "One row per exploration episode on the target.",
    "record.json": "The evaluations before and after the run, and at how many target steps it was finished.",
    "policies/": "All policies of the run that were kept: `ompo policy list --registry policies` shows them, "
    "report.md has the command that runs the stable one.",
    "recordings/": "Everything the run sent, as MCAP files: `ompo recording info .` shows what is in them, "
    "`warm_start:=THIS_FOLDER` lets a new run learn from them.",
    "checkpoints/": "The learner's state, which `resume:=true` continues from.",
    "tensorboard/": "The learner's losses: `tensorboard --logdir tensorboard`.",
    "belief.yaml": "What the identifier found out about the arm; the simulated arms are drawn from it.",
    "belief.npz": "What belief.yaml follows from: the arm's newest steps and the fits, from which a restart continues.",
    "launch.json, params.yaml, config/": "The launch arguments and copies of the parameter file, presets and "
    "domains that the run was started with; a resumed run reads these.",
    "learner.lock": "Held by the learner that writes here, so that no second one does.",
    "README.md": "This page.",
    "run_id": "Identity that the nodes of this run share.",
    "policy_version.json": "The last version number that was given to weights.",
}
_HEAD = """# A run of ompo_ros

Continue it, if it was interrupted, by `ros2 launch ompo_ros adapt.launch.py resume:=true run_dir:=THIS_FOLDER`.
Files appear as the run goes on; with roles on several machines each folder has a part of them.
"""


def explanation() -> str:
    """The whole text."""
    return "\n".join(
        [
            _HEAD,
            *_table("file", _FILES),
            "## Columns of metrics.csv",
            "",
            *_table("column", _columns(Sample)),
            "## Columns of episodes.csv",
            "",
            *_table("column", _columns(Episode)),
        ]
    )


def _columns(kind: type[Sample] | type[Episode]) -> dict[str, str]:
    return {column.name: column.metadata["text"] for column in dataclasses.fields(kind)}


def _table(head: str, rows: dict[str, str]) -> list[str]:
    return [f"| {head} | meaning |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows.items()), ""]
