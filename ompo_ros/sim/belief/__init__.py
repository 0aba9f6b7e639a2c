"""What the sources hold of the target's dynamics: a distribution over its parameters, from its transitions alone."""

from ompo_ros.sim.belief.belief import Belief, PredictionError

__all__ = ["Belief", "PredictionError"]
