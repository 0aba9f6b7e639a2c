"""Shows a run in a browser and calls its services for whoever presses a button there; nothing depends on it."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import Final

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import ArmBelief, EpisodeSummary, LearnerStatus, PolicyInfo, RunEnded
from ompo_msgs.srv import ListPolicies
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import JointState

from ompo_ros.control.observation import BadJointState, ForeignJointState, JointStateReader
from ompo_ros.control.safety import Reason
from ompo_ros.monitor.page import Page
from ompo_ros.monitor.press import Press
from ompo_ros.monitor.run_state import Belief, Learner, PolicyRow, RunState
from ompo_ros.nodes.beliefs import check_belief
from ompo_ros.nodes.page_calls import PageCalls
from ompo_ros.nodes.parameters import MonitorParameters
from ompo_ros.nodes.wire import goal, qos
from ompo_ros.nodes.wire.conversions import check_episode
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.learner_status import Metrics, hear_status
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.polled import Polled
from ompo_ros.nodes.wire.process import STEADY, run
from ompo_ros.nodes.wire.robot_topics import command_type, positions_from_msg, topic_in
from ompo_ros.reporting.belief_table import truth_of
from ompo_ros.sim.parameters import PARAMETERS
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot, load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData
from ompo_ros.words import ARM_NODES, CONTROL

_NICE: Final = 10  # whoever controls an arm goes first
_PANELS: Final = 0.5  # s between two looks at the panels
_LISTING: Final = 3.0  # s between two listings of the policies, while somebody watches
_OLD_COMMAND: Final = 0.5  # s after which the arm holds, so that there is no ghost of a command
_HEARD: Final = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)  # a slow page must slow nobody


class Monitor(Node):
    """Keeps a RunState up to date, draws it at its own pace, hands presses on."""

    def __init__(self) -> None:
        super().__init__("monitor", **OVERRIDES)
        given = declare(self, MonitorParameters)
        self._identity = Identity(self, given.run_id)
        self._robot, task = load_robot(given.robot, given.driver), Task(given.task, given.reward)
        self._run = RunState(
            target_steps=given.target_steps, truth=truth_of(given.target_domain) if given.target_domain else {}
        )
        self._calls = PageCalls(self, self._run, given.run_id, task.on(self._robot).frame)
        self._presses: deque[Press] = deque()
        self._pressed = self.create_guard_condition(self._do_presses)
        self._arm = WatchedArm(self, self._robot, given.robot_namespace, task.has_cube)
        self._goal: FloatArray | None = None
        self._page = Page(
            self._robot,
            task,
            self._run,
            self._on_press,
            host=given.host,
            port=given.port,
            reasons=[reason.value for reason in Reason if reason in _SHOWN_REASONS],
            nominal={name: parameter.nominal for name, parameter in PARAMETERS.items()},
        )
        self._list = self.create_client(ListPolicies, "policy_server/list_policies")
        self._listing: Future | None = None
        self._next_listing = 0.0
        self._listen()
        self.create_timer(1.0 / given.rate, self._draw, clock=STEADY)
        self.create_timer(_PANELS, self._show, clock=STEADY)
        sys.stdout.write(f"The run in a browser: {self._page.address}\n")  # not for the log, which others may hear
        sys.stdout.flush()

    def _listen(self) -> None:
        ours = self._identity.only_ours
        hear_status(self, self._identity, self._on_status)
        self.create_subscription(ArmBelief, "belief", ours(self._on_belief), qos.LATCHED)
        self.create_subscription(RunEnded, "run/ended", ours(self._on_end), qos.LATCHED)
        self.create_subscription(EpisodeSummary, "target/episodes", ours(self._on_episode), _HEARD)
        self.create_subscription(PointStamped, goal.TOPIC, self._on_goal, qos.LATCHED)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, _HEARD)
        self.create_subscription(Log, "/rosout", self._on_log, _HEARD)

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_status(self, msg: LearnerStatus, metrics: Metrics) -> None:
        r_local, r_global = (metrics.get(name, float("nan")) for name in ("R_local", "R_global"))
        learner = Learner(
            state=msg.state,
            target_steps=msg.target_steps,
            updates=msg.updates,
            updates_per_second=msg.updates_per_second,
            policy_version=msg.policy_version,
            r_local=r_local,
            r_global=r_global,
        )
        self._run.hear_learner(learner, time.monotonic())

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self.get_logger().error(f"episode refused: {error}")
            return
        if msg.outcome != EpisodeSummary.DROPPED:
            self._run.hear_episode(msg.success, msg.episode_return, msg.deterministic, time.monotonic())

    def _on_belief(self, msg: ArmBelief) -> None:
        try:
            check_belief(msg)
        except InvalidData as error:
            self.get_logger().error(f"belief refused: {error}")
            return
        self._run.belief = Belief(
            names=tuple(msg.names),
            means=tuple(msg.means),
            deviations=tuple(msg.deviations),
            command_delay=msg.command_delay,
            error=msg.prediction_error,
            prior_error=msg.prior_prediction_error,
            target_steps=msg.target_steps,
        )

    def _on_end(self, _: RunEnded) -> None:
        self._run.over = True

    def _on_goal(self, msg: PointStamped) -> None:
        self._goal = np.array([msg.point.x, msg.point.y, msg.point.z])

    def _on_report(self, msg: DiagnosticArray) -> None:
        names = [f"{self.resolve_topic_name(name)}{CONTROL}" for name in ARM_NODES]
        for status in msg.status:
            if status.name in names:
                figures = {pair.key: pair.value for pair in status.values}
                phase = figures.get("phase", status.message)
                self._run.hear_arm(phase, "" if status.message == phase else status.message, figures, time.monotonic())

    def _on_log(self, msg: Log) -> None:
        space = self.get_namespace().strip("/").replace("/", ".")
        if msg.level >= Log.WARN and msg.name.startswith(space):
            self._run.warn(msg.name.removeprefix(space).strip("."), msg.msg)

    # -- what goes out ------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Draw the arm, if anybody watches; joint states are taken all the same, for their silence is news."""
        now = time.monotonic()
        self._arm.take(now)
        if self._arm.heard == now:
            self._run.hear_joint_state(now)
        if self._arm.measured is None or not self._page.watched:
            return
        scene = self._page.scene
        if self._arm.heard == now:
            scene.show_arm(self._arm.measured, self._arm.commanded(now))
        if self._arm.cube is not None:
            scene.show_cube(self._arm.cube)
        if self._goal is not None:
            scene.show_goal(self._goal)
            self._goal = None

    def _show(self) -> None:
        self._calls.give_up_late()
        if not self._page.watched:
            return
        self._list_policies()
        self._page.show(self._calls.available())

    def _list_policies(self) -> None:
        now = time.monotonic()
        if now < self._next_listing or not self._list.service_is_ready():
            return
        self._next_listing = now + _LISTING
        if self._listing is not None:
            self._list.remove_pending_request(self._listing)
        self._listing = self._list.call_async(ListPolicies.Request())
        self._listing.add_done_callback(self._on_listing)

    def _on_listing(self, future: Future) -> None:
        self._listing = None
        self._run.policies = tuple(map(_row, future.result().policies))

    # -- presses ------------------------------------------------------------------------------------------------

    def _on_press(self, press: Press) -> None:
        """Called from the page's threads: leave it to the node's own."""
        self._presses.append(press)
        self._pressed.trigger()

    def _do_presses(self) -> None:
        while self._presses:
            press = self._presses.popleft()
            self.get_logger().info(f"{press.act.value}: asked for on the page")
            self._calls.do(press)
            self._next_listing = 0.0

    def destroy_node(self) -> None:
        """End the web server first."""
        self._page.close()
        super().destroy_node()


class WatchedArm:
    """The newest of the arm's own topics."""

    def __init__(self, node: Node, robot: Robot, namespace: str, has_cube: bool) -> None:
        self._node, self._robot = node, robot
        self._reader = JointStateReader(robot)
        self._states = Polled(node, JointState, topic_in(namespace, robot.driver.state_topic))
        self._commands = Polled(node, command_type(robot), topic_in(namespace, robot.driver.command_topic))
        self._cubes = Polled(node, PointStamped, topic_in(namespace, "cube")) if has_cube else None
        self.measured: FloatArray | None = None
        self.cube: FloatArray | None = None
        self.heard = -np.inf
        self._commanded: tuple[FloatArray, float] | None = None

    def take(self, now: float) -> None:
        """Take what has come."""
        state, command, cube = self._states.take(), self._commands.take(), self._cubes.take() if self._cubes else None
        if state is not None:
            try:
                self.measured, _ = self._reader.read(state.name, state.position, state.velocity)
                self.heard = now
            except (ForeignJointState, BadJointState) as error:
                self._node.get_logger().warning(f"not shown: {error}", throttle_duration_sec=10.0)
        if command is not None:
            self._take_command(command, now)
        if cube is not None:
            self.cube = np.array([cube.point.x, cube.point.y, cube.point.z])

    def _take_command(self, command: object, now: float) -> None:
        clock = self._node.get_clock().now().nanoseconds * 1e-9
        try:
            self._commanded = (positions_from_msg(self._robot, command, clock)[0], now)
        except ValueError:
            return  # the arm's node reports what is wrong with commands

    def commanded(self, now: float) -> FloatArray | None:
        """Where the arm is told to be, unless that was long ago."""
        return self._commanded[0] if self._commanded and now - self._commanded[1] < _OLD_COMMAND else None


_SHOWN_REASONS: Final = (Reason.POSITION, Reason.VELOCITY, Reason.STEP, Reason.ACCELERATION, Reason.WORKSPACE)


def _row(info: PolicyInfo) -> PolicyRow:
    return PolicyRow(
        version=info.version,
        channels=tuple(info.channels),
        pinned=info.pinned,
        success_rate=info.success_rate,
        episodes=info.evaluated_episodes,
        note=info.note,
    )


def main() -> None:
    """Show the run until stopped."""
    os.nice(_NICE)
    run(Monitor)


if __name__ == "__main__":
    main()
