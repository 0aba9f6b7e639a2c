"""The learner's many parameters: the run's budget, and every setting of the learning room."""

from __future__ import annotations

from rclpy.node import Node

from ompo_ros.learning import Config, settings
from ompo_ros.learning.pacing import Pacing
from ompo_ros.nodes.wire.parameters import declare


def declare_pacing(node: Node) -> Pacing:
    """What data and updates a run is allowed."""
    return Pacing(
        warmup=declare(node, "warmup", 2000, "Transitions before the first update.", low=0, high=10**9),
        source_ratio=declare(node, "source_ratio", 3.0, "Source per target transition.", low=0.0, high=1e6),
        update_to_data=declare(node, "update_to_data", 3.0, "Updates per target transition.", low=0.0, high=1e4),
        target_steps=declare(node, "target_steps", 0, "Target transitions to take; 0: endless.", low=0, high=10**9),
    )


def declare_config(node: Node) -> Config:
    """Every setting of the learning room under `learning.`, with its own words and ranges."""
    values = {}
    for setting in settings():
        numeric = not setting.choices and not isinstance(setting.default, (bool, str))
        values[setting.name] = declare(  # type: ignore[type-var] # a setting is of any one kind
            node,
            f"learning.{setting.name}",
            setting.default,
            f"{setting.why} (paper: {setting.paper})",
            low=setting.low if numeric else None,
            high=setting.high if numeric else None,
            choices=setting.choices,
        )
    return Config.from_dict(values)
