"""Forces at which an FR3 stops by itself: the launch, the driver and benchmarks/contact.py take them from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Thresholds:
    """External loads that cause a reflex, as the robot estimates them."""

    force: tuple[float, ...]  # x y z of the hand, N, and the torques about them, N m
    torque: tuple[float, ...]  # of each joint, N m

    def parameters(self) -> dict[str, object]:
        """The driver's parameters of the same meaning, as a parameter file would give them."""
        return {"collision_force": list(self.force), "collision_torque": list(self.torque)}


THRESHOLDS: Final[Mapping[str, Thresholds]] = {  # by task
    "reach": Thresholds(force=(20.0,) * 6, torque=(20.0,) * 7),
    # The script's push of a cube of 1 kg takes up to 53 N at a moment; fingers that landed on one met up to 245 N and
    # are to stop, as what presses on something that does not move (260 N): 100 N lie between. A cube of 3 kg at a
    # friction of 1 takes more in a third of the episodes. The torques are the most that 100 N take at the fingertips,
    # in the wrist the joint's own limit: docs/contact.md has the figures.
    "push": Thresholds(force=(100.0,) * 3 + (20.0,) * 3, torque=(75.0, 80.0, 70.0, 60.0, 12.0, 12.0, 12.0)),
}
