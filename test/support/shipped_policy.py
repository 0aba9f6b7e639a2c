"""The policy that ships with the package, as the learner exports it, and cousins of it."""

from functools import lru_cache

import numpy as np

from ompo_ros.experiments.pretrain import node_settings
from ompo_ros.learning import Config, make_agent
from ompo_ros.learning.pretrained import load_networks
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import CheckedPolicy, make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.resources import resource_path
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task


@lru_cache(maxsize=1)
def _actor() -> dict[str, np.ndarray]:
    config = Config.from_dict({**node_settings("learner")["learning"], "algorithm": "sac", "setting": "stationary"})
    agent = make_agent(config, 20, 7, device="cpu")
    load_networks(agent, resource_path("models/policies/panda_reach.safetensors"))
    return agent.actor_tensors()


def shipped_tensors(shift: float = 0.0) -> dict[str, np.ndarray]:
    """The actor of models/policies/panda_reach.safetensors; with a shift, one that leans against a biased drive.

    Deterministic success of 25 episodes on the nominal arm with an action_bias of 0, 0.5 and 0.75: 100 %, 92 % and 0 %
    without a shift, 0 %, 76 % and 100 % with 0.8; with 0.4, 92 % and 100 % without bias and with 0.75.
    """
    last = _actor()["bias_2"].copy()
    last[:7] -= np.arctanh(np.float32(shift))
    return {**_actor(), "bias_2": last}


def shipped_policy(version: int, shift: float = 0.0, robot: str = "panda") -> CheckedPolicy:
    contract = Task("reach", "dense").on(load_robot(robot))
    return make_policy(Actor(shipped_tensors(shift)), contract, version=version, stamp=1.0, training=Training(1, 1))
