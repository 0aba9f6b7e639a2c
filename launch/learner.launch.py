"""The learner's side of a run: the learner, the policy server, and who identifies the arm for the sources."""

from pathlib import Path

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching.files import pretrained_networks
from ompo_ros.launching.nodes import REPLACED, Values, chosen, node, part, policy_server
from ompo_ros.launching.run_start import folder_of

ARGUMENTS = (
    "task",
    "reward",
    "robot",
    "setting",
    "algorithm",
    "pretrained",
    "warm_start",
    "demonstrations",
    "device",
    "target_steps",
    "run_dir",
)


def generate_launch_description() -> LaunchDescription:
    """Start them; any may die and comes back with all it had."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """The learner resumes from what is in the run's folder: it may have died."""
    folder = str(folder_of(values))
    learner = {
        **chosen(values, "task", "reward", "robot", "device"),
        "run_dir": folder,
        "resume": True,
        "pretrained": pretrained_networks(values),
        "warm_start": recordings(values, "warm_start"),
        "demonstrations": recordings(values, "demonstrations"),
        "seed": int(values["seed"]),
        "target_steps": int(values["target_steps"]),
        "learning.algorithm": values["algorithm"],
        "learning.setting": values["setting"],
    }
    return [
        node("learner", values, learner, **REPLACED),
        policy_server(values, f"{folder}/policies"),
        *([identifier(values, folder)] if values["setting"] == "domain_adaptation" else []),
    ]


def recordings(values: Values, argument: str) -> str:
    """The recordings of an argument, wherever learner and identifier run."""
    return ",".join(str(Path(path).resolve()) for path in values[argument].split(",") if path)


def identifier(values: Values, folder: str) -> Node:
    """It goes on from the belief that it left in the run's folder."""
    parameters = {
        **chosen(values, "task", "reward", "robot"),
        "run_dir": folder,
        "warm_start": recordings(values, "warm_start"),
        "seed": int(values["seed"]),
    }
    return node("identifier", values, parameters, **REPLACED)
