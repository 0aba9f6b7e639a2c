"""The observation/action contract as data: the inputs and outputs of a policy, in order, with units."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np

from ompo_ros.transitions import Bounds

# Far beyond an arm's values, far below what would harm a network; a unit not listed here takes the last limit.
_POSSIBLE = {"rad": 100.0, "rad/s": 1_000.0, "m": 100.0, "": 10_000.0}
_REWARD_MARGIN = 10.0  # widths of the reward's range on either side of it


@dataclass(frozen=True)
class Signal:
    """One entry of an observation or action vector; entry x scale is the quantity in `unit`."""

    name: str
    unit: str
    source: str  # where a robot gets it, or how it uses it
    scale: float = 1.0


@dataclass(frozen=True)
class Contract:
    """All a robot needs to run a policy of this task; policies of equal contracts are interchangeable."""

    robot: str
    task: str
    frame: str  # frame of all positions
    joint_names: tuple[str, ...]
    control_rate: float  # Hz
    episode_steps: int
    observation: tuple[Signal, ...]
    action: tuple[Signal, ...]
    action_limit: float  # entries of an action lie in [-action_limit, action_limit]
    reward_range: tuple[float, float]

    def __post_init__(self) -> None:
        for kind, signals in (("observation", self.observation), ("action", self.action)):
            names = [signal.name for signal in signals]
            if not names or len(set(names)) != len(names):
                raise ValueError(f"{kind} of {self.task}: names must be present and distinct, got {names}")

    @property
    def observation_size(self) -> int:
        return len(self.observation)

    @property
    def action_size(self) -> int:
        return len(self.action)

    @property
    def bounds(self) -> Bounds:
        """Generous limits of this task's observations and rewards, and the exact ones of its actions."""
        obs = [_POSSIBLE.get(signal.unit, _POSSIBLE[""]) / signal.scale for signal in self.observation]
        low, high = self.reward_range
        margin = _REWARD_MARGIN * (high - low)
        return Bounds(np.array(obs, np.float32), (low - margin, high + margin), self.action_size, self.action_limit)

    def slice_of(self, group: str) -> slice:
        """Find the signals named `group.<...>` in the observation."""
        places = [i for i, signal in enumerate(self.observation) if signal.name.startswith(group + ".")]
        if not places:
            raise KeyError(f"the observation of {self.task} has no signal {group}.*")
        return slice(places[0], places[-1] + 1)

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Contract:
        """Read the output of `to_json`; anything else is refused."""
        try:
            content: dict[str, Any] = json.loads(text)
            for kind in ("observation", "action"):
                content[kind] = tuple(Signal(**signal) for signal in content[kind])
            content["joint_names"] = tuple(content["joint_names"])
            content["reward_range"] = tuple(content["reward_range"])
            return cls(**content)
        except (TypeError, KeyError, json.JSONDecodeError) as error:
            raise ValueError(f"not a contract: {error}") from error


FIELDS: Final = tuple(field.name for field in fields(Contract))


def first_difference(theirs: Contract, ours: Contract, among: Sequence[str] = FIELDS) -> str:
    """Where two contracts part first among some of their fields, or empty."""
    for name in among:
        found, wanted = getattr(theirs, name), getattr(ours, name)
        if found == wanted:
            continue
        if isinstance(wanted, tuple) and len(found) != len(wanted):
            return f"{name} has {len(found)} entries instead of {len(wanted)}"
        if isinstance(wanted, tuple):
            place = next(i for i, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b)
            return f"{name}[{place}] is {found[place]!r} instead of {wanted[place]!r}"
        return f"{name} is {found!r} instead of {wanted!r}"
    return ""
