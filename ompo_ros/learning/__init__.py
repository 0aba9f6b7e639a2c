"""OMPO and its baselines in torch, with no ROS and no simulator."""

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.buffers import EmptyBuffer
from ompo_ros.learning.config import ALGORITHMS, Config
from ompo_ros.learning.factory import make_agent
from ompo_ros.learning.metrics import Metrics
from ompo_ros.learning.stepping import StepLearner

__all__ = ["ALGORITHMS", "Agent", "Config", "EmptyBuffer", "Metrics", "StepLearner", "make_agent"]
