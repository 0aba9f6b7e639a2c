"""Run an exported policy in your own loop: numpy and onnxruntime, without torch, ROS or a simulator.

    pip install .[policy]
    python examples/onnx_policy.py [FILE.onnx]

The loop here moves an ideal arm, whose joints go exactly where they are sent. Replace `send` by your robot's interface,
behind your own limits: this example has no safety filter. `ros2 launch ompo_ros deploy.launch.py` has one.
"""

import sys
from pathlib import Path

import numpy as np

from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.resources import resource_path
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

TASK, ROBOT = Task("reach", "dense"), load_robot("panda")
GOAL = np.array([0.5, 0.1, 0.2])  # m, in the base frame; TASK.goal_box says what is possible


def send(command: np.ndarray) -> np.ndarray:
    """Send position commands (7,) in rad; returns the positions measured one control period later."""
    return command


def main() -> None:
    """Reach one goal."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else resource_path("models/policies/panda_reach.onnx")
    contract = TASK.on(ROBOT)  # names, units and scales of all inputs and outputs
    policy = PolicyRuntime(path.read_bytes(), contract)  # refuses a policy for another robot or task
    scale = np.array([signal.scale for signal in contract.action])  # rad for an action of 1
    position, velocity, no_cube = ROBOT.home, np.zeros(7), np.zeros(0)
    for step in range(contract.episode_steps):
        obs = TASK.observation(position, velocity, end_effector_position(position), no_cube, GOAL)
        if step % 10 == 0:
            print(f"step {step:3}: {TASK.distance(obs):.3f} m from the goal")
        measured = send(position + scale * policy.act(obs))
        position, velocity = measured, (measured - position) * contract.control_rate
    print(f"success: {bool(TASK.is_success(obs))}")


if __name__ == "__main__":
    main()
