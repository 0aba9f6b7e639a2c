"""The contract of a task on a robot that is like the Panda but named otherwise."""

from __future__ import annotations

from ompo_ros.domains.contract import Contract
from ompo_ros.domains.tasks import Task

ROBOTS = ("panda", "fr3")


def contract_for(task: str, reward: str, robot: str) -> Contract:
    """Name joints and frames as the robot's driver does; the FR3 has the Panda's geometry."""
    if robot not in ROBOTS:
        raise ValueError(f"robot {robot!r} is unknown, choose {' or '.join(ROBOTS)}")
    return Contract.from_json(Task(task, reward).contract.to_json().replace("panda", robot))
