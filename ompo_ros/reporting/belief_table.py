"""The identified parameters of the arm as a section of the report, beside the truth if a stand-in has one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ompo_ros.sim.distributions import Constant, Distribution, Normal, Numbers
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.parameters import PARAMETERS
from ompo_ros.sim.stand_in import SIMULATORS
from ompo_ros.task.config_file import ConfigFileError

BELIEF: Final = "belief.yaml"
_SHOWN: Final = (
    "payload_mass",
    "action_gain",
    "action_bias",
    "command_delay",
    "stiffness_scale",
    "servo_damping_scale",
)


def belief_section(folder: Path, settings: Mapping[str, object]) -> list[str]:
    """Lines of Markdown; none if the run has no belief."""
    path = folder / BELIEF
    try:
        believed = _distributions(path)
        summary = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    except (OSError, ConfigFileError):
        return []
    columns = {"belief": {name: _texts(name, believed) for name in _SHOWN}}
    if settings.get("target") in SIMULATORS:
        columns["truth"] = truth_of(str(settings["target_domain"]))
    return [
        "## Identified parameters of the arm",
        "",
        summary,
        "",
        f"| | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {name} | {' | '.join(', '.join(each[name]) for each in columns.values())} |" for name in _SHOWN),
        "",
    ]


def truth_of(domain: str | Path) -> dict[str, tuple[str, ...]]:
    """A stand-in's parameters as texts, one for each joint where they differ; for people, never for what learns."""
    drift, drawn = load_domain(domain).drift, _distributions(domain)
    return {name: ("drifts",) if name in drift else _texts(name, drawn) for name in _SHOWN}


def _distributions(domain: str | Path) -> dict[str, Distribution]:
    return {name: drawn.distribution for name, drawn in load_domain(domain).drawn.items()}


def _texts(name: str, distributions: Mapping[str, Distribution]) -> tuple[str, ...]:
    """Values with their deviations, one per joint if they differ; nominal if the domain does not set them."""
    chosen = distributions.get(name, Constant(PARAMETERS[name].nominal))
    if isinstance(chosen, Constant):
        return _numbers(chosen.value)
    if isinstance(chosen, Normal):
        return (f"{', '.join(_numbers(chosen.mean))} ± {', '.join(_numbers(chosen.std))}",)
    low, high = chosen.support
    return (f"{low:.2g} to {high:.2g}",)


def _numbers(values: Numbers) -> tuple[str, ...]:
    return tuple(f"{value:.2f}" for value in np.atleast_1d(values))
