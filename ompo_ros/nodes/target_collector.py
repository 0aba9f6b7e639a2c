"""Plays the newest policy on the robot through its standard topics and sends what happened to the learner."""

from __future__ import annotations

import secrets
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import EpisodeSummary, LearnerStatus, PolicyArtifact, TransitionBatch
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from ompo_ros.control.cadence import Cadence
from ompo_ros.control.collector import Collector
from ompo_ros.control.episode import FinishedEpisode
from ompo_ros.control.observation import BadJointState, ForeignJointState, JointStateReader
from ompo_ros.control.robot import load_robot
from ompo_ros.control.safety import ArmState
from ompo_ros.conversions import artifact_from_msg, transitions_to_msg
from ompo_ros.domains.kinematics import FloatArray
from ompo_ros.domains.tasks import Task
from ompo_ros.nodes import qos
from ompo_ros.nodes.evaluate_action import EvaluateAction
from ompo_ros.nodes.main import run
from ompo_ros.nodes.parameters import declare, refuse_unknown
from ompo_ros.nodes.reports import control_report, episode_summary
from ompo_ros.nodes.robot_topics import COMMANDS, STATES, command_to_msg, command_type, state_subscription_qos, topic_in
from ompo_ros.policy.runtime import PolicyRuntime

_SILENCE = 1.0  # s without a joint state until a collector in lockstep gives its episode up
_REPORT_PERIOD = 1.0  # s


class TargetCollector(Node):
    """Wires the collector's state machine to topics, one service and one action; a single thread does it all."""

    def __init__(self) -> None:
        super().__init__("target_collector")
        task = declare(self, "task", "reach", "What to do.", choices=("reach", "push"))
        reward = declare(self, "reward", "dense", "How it is rewarded.", choices=("dense", "sparse"))
        preset = declare(self, "robot", "panda", "Robot preset: a file of config/robots, by name or path.")
        driver = declare(self, "driver", "", "Which of the preset's drivers to speak to; empty for its default.")
        namespace = declare(self, "robot_namespace", "", "Namespace of the robot's topics; empty for the node's own.")
        seed = declare(self, "seed", 0, "Of goals and exploration.", low=0, high=2**31 - 1)
        self._dry_run = declare(self, "dry_run", False, "Do everything but command the robot and feed the learner.")
        scale = declare(self, "speed_scale", 1.0, "Share of the velocity limits to use.", low=0.01, high=1.0)
        self._lockstep = declare(self, "lockstep", False, "Act on each joint state at once, for robot_sim in lockstep.")
        enabled = declare(self, "enabled", True, "Move at once; otherwise wait for ~/set_enabled.")
        max_steps = declare(self, "max_target_steps", 0, "Transitions after which to hold; 0: none.", low=0, high=10**9)
        refuse_unknown(self)
        self.robot = load_robot(preset, driver)
        self.collector = Collector(
            self.robot, Task(task, reward), seed=seed, max_steps=max_steps, speed_scale=scale, home=not self._dry_run
        )
        self.collector.enabled = enabled
        self._reader = JointStateReader(self.robot)
        self._cadence = Cadence(self.robot.control_rate)
        self._state: ArmState | None = None
        self._cube: FloatArray | None = None
        self._fault = self._told = ""
        self._learner_steps = -1
        self._heard = 0.0
        self._id, self._run, self._sequence, self._episodes = (
            self.get_fully_qualified_name(),
            secrets.randbits(63),
            0,
            0,
        )
        # In lockstep each state is needed: the robot waits for the answer to it.
        state_qos = STATES if self._lockstep else state_subscription_qos(self.robot)
        self._commands = self.create_publisher(
            command_type(self.robot), topic_in(namespace, self.robot.driver.command_topic), COMMANDS
        )
        self._transitions = self.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
        self._summaries = self.create_publisher(EpisodeSummary, "target/episodes", qos.EPISODES)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_subscription(
            JointState, topic_in(namespace, self.robot.driver.state_topic), self._on_state, state_qos
        )
        if task == "push":
            self.create_subscription(PointStamped, topic_in(namespace, "cube"), self._on_cube, STATES)
        self.create_subscription(PolicyArtifact, "policy/latest", self._on_policy, qos.LATCHED)
        self.create_subscription(LearnerStatus, "status", self._on_status, qos.LATCHED)
        self.create_service(SetBool, "~/set_enabled", self._on_set_enabled)
        self._evaluate = EvaluateAction(self, self.collector, self.load_policy)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        if self._lockstep:
            self._silence = self.create_timer(_SILENCE, self._on_silence, clock=steady)
        else:
            self.create_timer(self.robot.period, self._on_timer)
        self.create_timer(_REPORT_PERIOD, self._report, clock=steady)
        self.get_logger().info(f"{task} ({reward}) on {preset}, commands on {self._commands.topic_name}")

    def load_policy(self, msg: PolicyArtifact) -> PolicyRuntime:
        """Make a received policy runnable for this robot; ValueError says why not."""
        onnx, _ = artifact_from_msg(msg)
        return PolicyRuntime(onnx, self.collector.task.contract, sha256=msg.sha256)

    def _on_policy(self, msg: PolicyArtifact) -> None:
        try:
            self.collector.policy = self.load_policy(msg)
        except ValueError as error:
            self.get_logger().error(f"refused policy {msg.version}, keeping the one before: {error}")

    def _on_status(self, msg: LearnerStatus) -> None:
        """Believe the learner's count: it may have resumed with more than we sent, or have died with less."""
        all_arrived = msg.target_steps == self._learner_steps
        if msg.target_steps > self.collector.target_steps or all_arrived:
            self.collector.target_steps = msg.target_steps
        self._learner_steps = msg.target_steps

    def _on_cube(self, msg: PointStamped) -> None:
        cube = np.array([msg.point.x, msg.point.y, msg.point.z])
        self._cube = cube if np.isfinite(cube).all() else None

    def _on_state(self, msg: JointState) -> None:
        stamp = msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9
        now = stamp if self._lockstep else self._now()
        try:
            position, velocity = self._reader.read(msg.name, msg.position, msg.velocity)
            self._state, self._fault, self._heard = ArmState(position, velocity, now), "", time.monotonic()
        except ForeignJointState as error:
            if self._state is None:
                self._fault = str(error)
            return
        except BadJointState as error:
            self._fault = str(error)
        if self._lockstep:
            self._silence.reset()
            self._tick(now)

    def _on_timer(self) -> None:
        now = self._now()
        self._cadence.tick(now)
        self._tick(now)

    def _on_silence(self) -> None:
        self._tick(self._state.time + _SILENCE if self._state else 0.0)

    def _tick(self, now: float) -> None:
        tick = self.collector.tick(self._state, self._cube, now, self._fault)
        if tick.command is not None and not self._dry_run:
            self._commands.publish(command_to_msg(self.robot, tick.command))
        if tick.finished is not None:
            self._hand_over(tick.finished)
        self._evaluate.tick()
        self._tell()

    def _hand_over(self, finished: FinishedEpisode) -> None:
        stamp = self.get_clock().now().to_msg()
        summary = episode_summary(finished, collector_id=self._id, episode=self._episodes, stamp=stamp)
        self._episodes += 1
        if finished.transitions is not None and not finished.deterministic and not self._dry_run:
            self._transitions.publish(
                transitions_to_msg(
                    finished.transitions, collector_id=self._id, run=self._run, sequence=self._sequence, stamp=stamp
                )
            )
            self._sequence += 1
        self._summaries.publish(summary)
        self._evaluate.episode_ended(summary)

    def _on_set_enabled(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.collector.enabled = request.data
        response.success, response.message = True, "enabled" if request.data else "braking, then silent"
        return response

    def _tell(self) -> None:
        """Say what is wrong when it begins, and that it is over when it ends."""
        problem = self.collector.problem
        if problem == self._told:
            return
        if not problem:
            self.get_logger().info("the robot is sound, going on")
        elif not self.get_logger().warning(f"holding: {problem}", throttle_duration_sec=1.0):
            return  # it came too soon after another one; the next tick tries again
        self._told = problem

    def _report(self) -> None:
        collector, cadence = self.collector, self._cadence.report()
        figures = {
            "target_rate": cadence.target_rate,
            "actual_rate": round(cadence.actual_rate, 2),
            "late_ticks": self._cadence.total_late,
            "ticks": self._cadence.total_ticks,
            "worst_period_ms": round(cadence.worst * 1e3, 1),
            "state_age_ms": round((time.monotonic() - self._heard) * 1e3, 1) if self._state else "never",
            **collector.figures(),
        }
        stamp, phase = self.get_clock().now().to_msg(), collector.phase.value
        self._diagnostics.publish(control_report(self._id, self.robot.name, phase, collector.problem, figures, stamp))

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9


def main() -> None:
    """Run the collector until it is stopped."""
    run(TargetCollector)


if __name__ == "__main__":
    main()
