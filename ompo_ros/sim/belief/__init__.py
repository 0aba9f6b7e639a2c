"""A distribution over the target's parameters, inferred from its transitions, that the sources draw from."""

from ompo_ros.sim.belief.belief import Belief, PredictionError

__all__ = ["Belief", "PredictionError"]
