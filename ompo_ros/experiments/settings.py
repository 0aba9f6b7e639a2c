"""What an adaptation run begins with: the nodes' parameters and the shipped networks."""

from __future__ import annotations

from typing import Any

import yaml

from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.learning.pretrained import load_networks
from ompo_ros.resources import networks_name, resource_path, settings_path
from ompo_ros.task.tasks import Task


def node_settings(node: str, task: str = "reach") -> dict[str, Any]:
    """The parameters of a node in an adaptation run."""
    parameters = yaml.safe_load(settings_path(task).read_text())
    settings: dict[str, Any] = parameters[f"/**/{node}"]["ros__parameters"]
    return settings


def shipped_agent(task: Task, seed: int) -> Agent:
    """SAC from the shipped networks, with the settings of an adaptation run."""
    config = Config.from_dict({**node_settings("learner")["learning"], "algorithm": "sac", "setting": "stationary"})
    agent = make_agent(config, task.contract.observation_size, task.contract.action_size, seed, "cpu")
    load_networks(agent, resource_path(networks_name(task.name)))
    return agent
