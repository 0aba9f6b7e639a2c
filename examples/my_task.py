"""Your own task, learned over ROS: hover 10 cm above the goal instead of reaching it.

    tools/with_ros python examples/my_task.py [STEPS]    # plain python where ROS 2 and the workspace are sourced

Starts a learner and a policy server, plays their newest policy in MuJoCo, and sends each episode with its own reward.
The hand ends 10 cm from its point at first, and 1 to 3 cm after 1,000 steps.
Observations and actions are those of `reach`. For other robots and simulators make the Transitions yourself.
"""

import dataclasses
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import rclpy
import yaml
from ompo_msgs.msg import LearnerStatus

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.batches import BatchPublisher
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.policy_feed import PolicyFeed
from ompo_ros.resources import resource_path
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.tasks import EPISODE_STEPS, Task
from ompo_ros.transitions import Origin

CONTRACT = Task("reach", "dense").contract
HAND, GOAL = CONTRACT.slice_of("end_effector_position"), CONTRACT.slice_of("goal")


def miss(obs: np.ndarray) -> np.ndarray:
    """Metres from the hand to the point 10 cm above the goal; its negative is the reward."""
    return np.linalg.norm(obs[:, HAND] - obs[:, GOAL] - (0.0, 0.0, 0.1), axis=1).astype(np.float32)


def play(learner: subprocess.Popen, steps: int) -> None:
    """Play episodes until the learner has so many steps; it makes its updates between them."""
    node, status = rclpy.create_node("hover", namespace="ompo"), [LearnerStatus()]
    identity = Identity(node, run_id="")
    policies = PolicyFeed(node, "policy/latest", CONTRACT, identity, batch=1)
    batches = BatchPublisher(node, "target/transitions", identity)
    node.create_subscription(LearnerStatus, "status", lambda msg: status.append(msg), qos.LATCHED)
    arm, rng, sent = Collection(PandaVectorEnv(1, "reach", "dense", "nominal"), seed=0), np.random.default_rng(0), 0
    while learner.poll() is None and status[-1].target_steps < steps:
        rclpy.spin_once(node, timeout_sec=0.1)
        policies.pause()  # loads a newer policy, if there is one
        policy = policies.newest()
        if policy is None or not batches.is_heard or status[-1].behind or status[-1].target_steps < sent:
            continue
        played, _ = arm.run(lambda obs, policy=policy: policy.sample(obs, rng), EPISODE_STEPS, policy.version)
        missed = miss(played.next_obs)
        mine = dataclasses.replace(played, origin=Origin.TARGET, reward=-missed)
        batches.send(mine, node.get_clock().now().to_msg())
        sent += len(mine)
        print(f"{sent:5} steps  policy {policy.version:4}  ended {100 * missed[-1]:5.1f} cm from the point", flush=True)
    policies.close()


def start_learner(folder: Path) -> subprocess.Popen:
    """Launch the learner's side with the settings of an adaptation run, but fewer updates per step."""
    settings = yaml.safe_load(resource_path("config/adapt.yaml").read_text())
    settings["/**/learner"]["ros__parameters"].update(warmup=100, update_to_data=4.0)
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    files = (f"params_file:={folder}/settings.yaml", f"run_dir:={folder}/run")
    command = ("ros2", "launch", "ompo_ros", "learner.launch.py", "setting:=stationary", "target_steps:=0")
    return subprocess.Popen([*command, "log_level:=warn", *files])


if __name__ == "__main__":
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        learner = start_learner(Path(folder))
        try:
            play(learner, steps=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
        except KeyboardInterrupt:
            pass
        finally:
            learner.send_signal(signal.SIGINT)
            learner.wait()
