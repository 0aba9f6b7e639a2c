"""OMPO and its baselines in torch, with no ROS and no simulator.

The names below are imported when first used: a launch reads the settings, and should not wait for torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ompo_ros.learning.agent import Agent
    from ompo_ros.learning.buffers import EmptyBuffer
    from ompo_ros.learning.config import ALGORITHMS, Config
    from ompo_ros.learning.factory import make_agent
    from ompo_ros.learning.metrics import Metrics
    from ompo_ros.learning.stepping import StepLearner

__all__ = ["ALGORITHMS", "Agent", "Config", "EmptyBuffer", "Metrics", "StepLearner", "make_agent"]
_HOMES = {
    "ALGORITHMS": "config",
    "Agent": "agent",
    "Config": "config",
    "EmptyBuffer": "buffers",
    "Metrics": "metrics",
    "StepLearner": "stepping",
    "make_agent": "factory",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of each name's own type, see above
    """Find a name of the list in its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
