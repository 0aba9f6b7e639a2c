"""The observation/action contract as data: what a policy sees and says, in order, with units."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from ompo_ros.transitions import Bounds

# Far beyond what an arm does, far below what a network cannot bear; a unit not listed here is held to the last.
_POSSIBLE = {"rad": 100.0, "rad/s": 1_000.0, "m": 100.0, "": 10_000.0}
_REWARD_MARGIN = 10.0  # widths of the reward's range on either side of it


@dataclass(frozen=True)
class Signal:
    """One entry of an observation or action vector; entry x scale is the quantity in `unit`."""

    name: str
    unit: str
    source: str  # where a robot gets it from, or what it does with it
    scale: float = 1.0


@dataclass(frozen=True)
class Contract:
    """Everything a robot must know to run a policy of this task; equal contracts mean interchangeable policies."""

    robot: str
    task: str
    frame: str  # positions are given in this frame
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
        """What observations and rewards of this task can be at most, generously."""
        obs = [_POSSIBLE.get(signal.unit, _POSSIBLE[""]) / signal.scale for signal in self.observation]
        low, high = self.reward_range
        margin = _REWARD_MARGIN * (high - low)
        return Bounds(np.array(obs, np.float32), (low - margin, high + margin))

    def slice_of(self, group: str) -> slice:
        """Where the signals named `group.<...>` stand in the observation."""
        places = [i for i, signal in enumerate(self.observation) if signal.name.startswith(group + ".")]
        if not places:
            raise KeyError(f"the observation of {self.task} has no signal {group}.*")
        return slice(places[0], places[-1] + 1)

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Contract:
        """Read what `to_json` wrote; anything else is refused."""
        try:
            content: dict[str, Any] = json.loads(text)
            for kind in ("observation", "action"):
                content[kind] = tuple(Signal(**signal) for signal in content[kind])
            content["joint_names"] = tuple(content["joint_names"])
            content["reward_range"] = tuple(content["reward_range"])
            return cls(**content)
        except (TypeError, KeyError, json.JSONDecodeError) as error:
            raise ValueError(f"not a contract: {error}") from error


def first_difference(theirs: Contract, ours: Contract) -> str:
    """Where two contracts part first, or empty."""
    for field in fields(Contract):
        found, wanted = getattr(theirs, field.name), getattr(ours, field.name)
        if found == wanted:
            continue
        if isinstance(wanted, tuple) and len(found) != len(wanted):
            return f"{field.name} has {len(found)} entries instead of {len(wanted)}"
        if isinstance(wanted, tuple):
            place = next(i for i, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b)
            return f"{field.name}[{place}] is {found[place]!r} instead of {wanted[place]!r}"
        return f"{field.name} is {found!r} instead of {wanted!r}"
    return ""
