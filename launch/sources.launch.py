"""The sources of a run: simulated arms, where the setting has them."""

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching.nodes import REPLACED, Values, chosen, node, part

ARGUMENTS = ("task", "reward", "robot", "setting", "num_sources")


def generate_launch_description() -> LaunchDescription:
    """Start the collectors; one that dies is replaced."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """Their names are numbered; a parameter file may mean all of them, or one."""
    if values["setting"] != "domain_adaptation":
        return []
    number = int(values["num_sources"])
    common = {**chosen(values, "task", "reward", "robot"), "seed": int(values["seed"]), "num_sources": number}
    return [
        node("source_collector", values, {**common, "index": i}, name=f"source_collector_{i}", **REPLACED)
        for i in range(number)
    ]
