"""Writes the policies in models/policies from the networks there: `tools/with_ros python tools/export_policies.py`.

A policy carries the joint names of its robot, so there is one for each arm that the networks fit.
"""

from __future__ import annotations

import time
from pathlib import Path

from ompo_ros.experiments.pretrain import TOTAL_UPDATES
from ompo_ros.experiments.settings import shipped_agent
from ompo_ros.files import write_whole
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import CheckedPolicy, make_policy, policy_bytes, read_policy
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.manifest import Training
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import FAMILIES, TASKS, Task

FOLDER = Path(__file__).resolve().parent.parent / "models" / "policies"


def file_of(family: str, task: str) -> Path:
    """Where deploy.launch.py looks for an arm's policy."""
    return FOLDER / f"{family}_{task}.onnx"


def policy_of(family: str, task: str) -> CheckedPolicy:
    """What the networks are for an arm, exported here and now."""
    made = Task(task, "dense")
    contract, actor = made.on(load_robot(family)), Actor(shipped_agent(made, seed=0).actor_tensors())
    training = Training(updates=TOTAL_UPDATES[task], target_steps=0)
    return make_policy(actor, contract, version=1, stamp=time.time(), training=training)


def is_stale(file: Path, policy: CheckedPolicy) -> bool:
    """Whether a file has other weights or another contract than the policy, or is not readable by this release."""
    try:
        written = read_policy(policy_bytes(file)).manifest
    except (OSError, RefusedPolicy):
        return True
    made = policy.manifest
    return (written.weights_sha256, written.contract) != (made.weights_sha256, made.contract)


def main() -> None:
    """Write what is stale."""
    for task in TASKS:
        for family in FAMILIES:
            file, policy = file_of(family, task), policy_of(family, task)
            if is_stale(file, policy):
                write_whole(file, policy.onnx)
                print(f"{file.name}: written, SHA-256 {policy.sha256}")
            else:
                print(f"{file.name}: up to date")


if __name__ == "__main__":
    main()
