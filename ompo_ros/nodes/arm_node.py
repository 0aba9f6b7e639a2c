"""What every node that moves an arm is made of: the arm's parameters and topics, the control timer, its reports."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum
from typing import Protocol

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import SetEnabled
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import JointState

from ompo_ros.control.cadence import Cadence
from ompo_ros.control.episode import FinishedEpisode
from ompo_ros.control.motion import Motion, Tick
from ompo_ros.control.observation import BadJointState, ForeignJointState, JointStateReader
from ompo_ros.control.safety import ArmState, SafeCommand
from ompo_ros.nodes.parameters import ArmParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.commands import Commands, Delivery, Stamps
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY
from ompo_ros.nodes.wire.reports import control_report, episode_summary
from ompo_ros.nodes.wire.robot_topics import STATES, state_subscription_qos, topic_in
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

_SILENCE = 1.0  # s without a joint state until a node in lockstep brakes, and without the cube until any does
_FAR = 10.0  # m at which no arm has a cube
_REPORT_PERIOD = 1.0  # s
_HEARS = 1.5  # periods since a joint state within which the network is there
_WIND_DOWN = 2.0  # s that braking may take before the node ends all the same


class Machine(Protocol):
    """What decides at each tick: the collector's state machine, or the controller's."""

    enabled: bool
    motion: Motion

    @property
    def phase(self) -> Enum: ...

    @property
    def problem(self) -> str: ...

    def figures(self) -> Mapping[str, object]: ...

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick: ...


class ArmNode(Node):
    """Wires a state machine to a robot's topics; a single thread does it all."""

    def __init__(self, name: str, given: type[ArmParameters]) -> None:
        """Declare the node's parameters."""
        super().__init__(name, **OVERRIDES)
        self.given = declare(self, given)
        self.identity = Identity(self, self.given.run_id)
        self._namespace = self.given.robot_namespace
        self.dry_run, self.lockstep, self._enabled = self.given.dry_run, self.given.lockstep, self.given.enabled
        self.task, self.robot = (
            Task(self.given.task, self.given.reward),
            load_robot(self.given.robot, self.given.driver),
        )
        self.contract = self.task.on(self.robot)
        self.id = self.get_fully_qualified_name()
        self._simulated = bool(self.get_parameter("use_sim_time").value)
        self._reader = JointStateReader(self.robot)
        self._cadence = Cadence(self.robot.control_rate)
        self._state: ArmState | None = None
        self._cube: FloatArray | None = None
        self._cube_heard = 0.0
        self._fault = self._rivals = self._told = ""
        self._heard = 0.0
        self._episodes = 0
        self._ending_by: float | None = None  # when to end at the latest, once asked to
        self._withheld = 0
        self._stamps = Stamps()

    def connect(self, machine: Machine) -> None:
        """Meet the robot; call it last, when all parameters are declared and all else is ready for the first tick."""
        self._machine = machine
        machine.enabled = self._enabled
        driver = self.robot.driver
        command_topic = self.resolve_topic_name(topic_in(self._namespace, driver.command_topic))
        self._command_topic = command_topic
        self._commands = None if self.dry_run else Commands(self, self.robot, command_topic)
        self._summaries = self.create_publisher(EpisodeSummary, "target/episodes", qos.EPISODES)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        # In lockstep each state is needed: the robot waits for the answer to it.
        state_qos = STATES if self.lockstep else state_subscription_qos(self.robot)
        self.create_subscription(JointState, topic_in(self._namespace, driver.state_topic), self._on_state, state_qos)
        if self.task.has_cube:
            self.create_subscription(PointStamped, topic_in(self._namespace, "cube"), self._on_cube, STATES)
        self.create_service(SetEnabled, "~/set_enabled", self._on_set_enabled)
        if self.lockstep:
            self._silence = self.create_timer(_SILENCE, self._on_silence, clock=STEADY)
        else:
            self.create_timer(self.robot.period, self._on_timer, clock=None if self._simulated else STEADY)
        self.create_timer(_REPORT_PERIOD, self._report, clock=STEADY)
        dry = " (dry run: none is sent)" if self.dry_run else ""
        self.get_logger().info(f"{self.contract.task} on {self.robot.name}, commands on {command_topic}{dry}")

    def on_episode(self, finished: FinishedEpisode, summary: EpisodeSummary) -> None:
        """Do with an ended episode what the node is for; its summary is published here."""

    def after_tick(self) -> None:
        """Look after what goes on beside control."""

    def hold_reason(self) -> str:
        """Say why the arm must hold although its own messages are sound, if there is a reason."""
        return ""

    def wind_down(self) -> None:
        """Brake, and end when the arm is at rest."""
        self._machine.enabled = False
        self._ending_by = time.monotonic() + _WIND_DOWN

    @property
    def has_ended(self) -> bool:
        """Whether a node that was asked to end may do so."""
        if self._ending_by is None:
            return False
        return not self._machine.motion.moving or time.monotonic() > self._ending_by

    def _on_cube(self, msg: PointStamped) -> None:
        cube = np.array([msg.point.x, msg.point.y, msg.point.z])
        if msg.header.frame_id != self.contract.frame:
            self.get_logger().warning(
                f"cube refused: its frame is {msg.header.frame_id!r}, {self.contract.frame!r} is needed",
                throttle_duration_sec=5.0,
            )
        elif (np.abs(cube) < _FAR).all():
            self._cube, self._cube_heard = cube, time.monotonic()

    def _on_state(self, msg: JointState) -> None:
        stamp = msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9
        now = stamp if self.lockstep else self._now()
        try:
            position, velocity = self._reader.read(msg.name, msg.position, msg.velocity)
            self._state, self._fault, self._heard = ArmState(position, velocity, now), "", time.monotonic()
        except ForeignJointState as error:
            if self._state is None:
                self._fault = str(error)
            return
        except BadJointState as error:
            self._fault = str(error)
        if self.lockstep:
            self._silence.reset()
            self._tick(now)

    def _on_timer(self) -> None:
        now = self._now()
        self._cadence.tick(now)
        self._tick(now)

    def _on_silence(self) -> None:
        self._tick(self._state.time + _SILENCE if self._state else 0.0)

    def _tick(self, now: float) -> None:
        cube = self._cube if time.monotonic() - self._cube_heard < _SILENCE else None
        fault = self._fault or self._rivals or self._look_at_delivery() or self.hold_reason()
        tick = self._machine.tick(self._state, cube, now, fault)
        if tick.command is not None:
            self._send(tick.command, now)
        if tick.finished is not None:
            self._hand_over(tick.finished)
        self.after_tick()
        self._tell()

    def _look_at_delivery(self) -> str:
        """Where messages get through neither way, send none: it is not known what the driver does."""
        delivery = self._commands.delivery() if self._commands is not None else Delivery.ARRIVED
        hears = time.monotonic() - self._heard < _HEARS * self.robot.period
        lost = delivery is Delivery.LOST and not hears  # an acknowledgement alone may just be slow
        motion = self._machine.motion
        motion.filter.delivered = delivery is Delivery.ARRIVED
        if lost and motion.moving:
            motion.leave()
            return "the last command was not acknowledged: is the driver there, and the network?"
        return ""

    def _send(self, command: SafeCommand, now: float) -> None:
        """Send a command in time, and after the last one arrived; else the driver goes on with what it has."""
        commands = self._commands
        if commands is None:  # a dry run
            self._machine.motion.withdraw()
            return
        if self.lockstep:
            commands.send(command, Time(nanoseconds=round(now * 1e9)), np.inf)
            return
        age, motion = max(self._now() - now, 0.0), self._machine.motion
        stamp = Time(nanoseconds=round(now * 1e9)) if self._simulated else self._stamps.stamp(now)
        due = time.monotonic() + motion.filter.driver.patience - age
        if commands.delivery() is Delivery.PENDING or not commands.send(command, stamp, due):
            motion.withdraw()
            self._withheld += 1

    def _hand_over(self, finished: FinishedEpisode) -> None:
        stamp = self.get_clock().now().to_msg()
        summary = episode_summary(
            finished, run_id=self.identity.run_id, collector_id=self.id, episode=self._episodes, stamp=stamp
        )
        self._episodes += 1
        self.on_episode(finished, summary)
        self._summaries.publish(summary)

    def _on_set_enabled(self, request: SetEnabled.Request, response: SetEnabled.Response) -> SetEnabled.Response:
        response.message = self.identity.enabling_problem(request)
        if request.enabled and self._ending_by is not None:
            response.message = "refused: the node is ending"
        if response.message:
            self.get_logger().warning(f"~/set_enabled: {response.message}")
            return response
        self._machine.enabled = request.enabled
        response.success, response.message = True, "enabled" if request.enabled else "braking, then silent"
        self.get_logger().info(f"{response.message}, as asked by ~/set_enabled")
        return response

    def _tell(self) -> None:
        """Say what is wrong when it begins, and that it is over when it ends."""
        problem = self._machine.problem
        if problem == self._told:
            return
        if not problem:
            self.get_logger().info(f"all is well: {self._machine.phase.value}")
        elif not self.get_logger().warning(f"holding: {problem}", throttle_duration_sec=1.0):
            return  # it came too soon after another one; the next tick tries again
        self._told = problem

    def _look_for_rivals(self) -> None:
        """Two nodes that command one arm tear it to and fro: neither shall move it."""
        publishers = self.count_publishers(self._command_topic)
        alone = self._commands is None or publishers <= 1
        self._rivals = "" if alone else f"{publishers} nodes send commands on {self._command_topic}: stop the others"
        if self.count_services(f"{self.id}/set_enabled") > 1:
            self._rivals = f"another node has the name {self.id}: stop it"

    def _report(self) -> None:
        self._look_for_rivals()
        machine, cadence = self._machine, self._cadence.report()
        figures = {
            "target_rate": cadence.target_rate,
            "actual_rate": round(cadence.actual_rate, 2),
            "late_ticks": self._cadence.total_late,
            "ticks": self._cadence.total_ticks,
            "worst_period_ms": round(cadence.worst * 1e3, 1),
            "withheld_commands": self._withheld,
            "state_age_ms": round((time.monotonic() - self._heard) * 1e3, 1) if self._state else "never",
            **machine.figures(),
        }
        stamp, phase = self.get_clock().now().to_msg(), machine.phase.value
        self._diagnostics.publish(control_report(self.id, self.robot.name, phase, machine.problem, figures, stamp))

    def _now(self) -> float:
        """Seconds that no change of the machine's clock makes jump; simulated ones where time is simulated."""
        return float(self.get_clock().now().nanoseconds) * 1e-9 if self._simulated else time.monotonic()
