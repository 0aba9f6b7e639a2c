"""Writes a domain as the YAML that `load_domain` reads; a belief is stored as a domain file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ompo_ros.files import write_whole
from ompo_ros.sim.beyond import FIELDS, Beyond
from ompo_ros.sim.distributions import Choice, Constant, LogUniform, Normal, Numbers, Uniform
from ompo_ros.sim.domain import Domain, Drawn

_DIGITS = 6


def domain_text(domain: Domain, comment: str = "") -> str:
    """The file's content; a drifting domain cannot be written."""
    if domain.drift:
        raise ValueError(f"domain {domain.name!r} drifts: only domains without drift can be written")
    sections: dict[str, Any] = {"parameters": {name: _entry(drawn) for name, drawn in domain.drawn.items()}}
    sections["simulator"] = {"timestep": domain.simulator.timestep, "integrator": domain.simulator.integrator}
    if domain.beyond is not None:
        given = {name: getattr(domain.beyond, name) for name in FIELDS}
        sections["beyond"] = {name: _plain(value) for name, value in given.items() if value != getattr(Beyond(), name)}
    notes = "".join(f"# {line}\n" for line in comment.splitlines())
    return notes + yaml.safe_dump(sections, sort_keys=False, default_flow_style=None, width=120)


def write_domain(domain: Domain, path: Path, comment: str = "") -> None:
    """Replace the file in one step."""
    write_whole(path, domain_text(domain, comment).encode())


def _entry(drawn: Drawn) -> Any:  # noqa: ANN401 - what YAML takes
    chosen = drawn.distribution
    entry: dict[str, Any]
    match chosen:
        case Constant():
            entry = {"constant": _plain(chosen.value)}
        case Uniform():
            entry = {"uniform": [_plain(chosen.low), _plain(chosen.high)]}
        case LogUniform():
            entry = {"log_uniform": [_plain(chosen.low), _plain(chosen.high)]}
        case Normal():
            entry = {"normal": [_plain(chosen.mean), _plain(chosen.std)]}
            if np.isfinite(chosen.low) and np.isfinite(chosen.high):
                entry["within"] = [chosen.low, chosen.high]
        case Choice():
            entry = {"choice": list(chosen.options)}
        case _:
            raise ValueError(f"{chosen!r} has no form in a domain file")
    return {**entry, "shared": True} if drawn.shared else entry


def _plain(value: Numbers) -> Any:  # noqa: ANN401 - a number or a list of them
    return [round(each, _DIGITS) for each in value] if isinstance(value, tuple) else round(value, _DIGITS)
