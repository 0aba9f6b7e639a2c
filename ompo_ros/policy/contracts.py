"""The contract of a task on a robot that is like the Panda but named otherwise."""

from __future__ import annotations

from dataclasses import replace

from ompo_ros.control.robot import Robot
from ompo_ros.domains.contract import Contract
from ompo_ros.domains.tasks import Task

ROBOTS = ("panda", "fr3")


def contract_for(task: str, reward: str, robot: str) -> Contract:
    """Name joints and frames as the robot's driver does; the FR3 has the Panda's geometry."""
    if robot not in ROBOTS:
        raise ValueError(f"robot {robot!r} is unknown, choose {' or '.join(ROBOTS)}")
    return Contract.from_json(Task(task, reward).contract.to_json().replace("panda", robot))


def contract_on(robot: Robot, task: Task) -> Contract:
    """What a policy must have been made for to run on a preset: its joints in its order, at its rate."""
    family = robot.joint_names[0].rsplit("_", 1)[0]
    contract = contract_for(task.name, task.reward, family)
    return replace(contract, joint_names=robot.joint_names, control_rate=robot.control_rate)
