"""An arm on the graph: its topics, its control timer, the service that enables it, its reports."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, Protocol

from diagnostic_msgs.msg import DiagnosticArray
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import SetEnabled
from rclpy.node import Node

from ompo_ros.control.cadence import Cadence
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.control.motion import Motion, Tick
from ompo_ros.control.safety import ArmState
from ompo_ros.nodes.parameters import ArmParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.cube import Cube
from ompo_ros.nodes.wire.dispatch import Dispatch
from ompo_ros.nodes.wire.goal import GoalPublisher
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.joint_states import JointStates
from ompo_ros.nodes.wire.loop_clock import LoopClock
from ompo_ros.nodes.wire.process import STEADY, run_in_real_time
from ompo_ros.nodes.wire.reports import control_report, episode_summary
from ompo_ros.nodes.wire.rivals import Rivals
from ompo_ros.nodes.wire.robot_topics import topic_in
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.transitions import Origin

_SILENCE: Final = 1.0  # s without a joint state until a node in lockstep brakes
_REPORT_PERIOD: Final = 1.0  # s
_FIGURES: Final = re.compile(r"[\d.]+")  # in a problem's text; while only they change it is the same problem
_START: Final = 10.0  # s in which a robot that starts beside an idle node may be silent
_WIND_DOWN: Final = 2.0  # s of braking after which the node ends in any case
_DESERTED: Final = "the driver left while it was in use: run `ompo enable` when the arm may move"
_STAYS_DISABLED: Final = "stays disabled, as asked before; only a person enables it: `ompo enable`"


class StateMachine(Protocol):
    """The state machine behind the ticks: collector or controller."""

    enabled: bool
    motion: Motion

    @property
    def phase(self) -> Enum: ...

    @property
    def problem(self) -> str: ...

    @property
    def goal(self) -> FloatArray | None: ...

    def figures(self) -> Mapping[str, object]: ...

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick: ...


class Arm:
    """Connects a state machine to a robot's topics, in the node's single thread.

    `before_tick` may return a reason to hold although the arm's messages are valid. `on_episode` gets an ended episode
    before its summary is published.
    """

    def __init__(
        self,
        node: Node,
        given: ArmParameters,
        identity: Identity,
        machine: StateMachine,
        *,
        before_tick: Callable[[], str] = lambda: "",
        after_tick: Callable[[], None],
        on_episode: Callable[[PlayedEpisode, EpisodeSummary], None] = lambda *_: None,
    ) -> None:
        self._node, self._identity, self._machine = node, identity, machine
        self._before_tick, self._after_tick, self._on_episode = before_tick, after_tick, on_episode
        self._told, self._began = "", time.monotonic()
        self._episodes = 0
        self._ending_by: float | None = None  # the latest time to end, after a signal
        self._disabled = False  # by a call or a desertion, since when only a person enables
        self._deserted = ""
        machine.enabled = given.enabled
        robot, contract = machine.motion.robot, machine.motion.contract
        topic = node.resolve_topic_name(topic_in(given.robot_namespace, robot.driver.command_topic))
        self._clock, self._cadence = LoopClock(node), Cadence(robot.control_rate)
        self._dispatch = Dispatch(
            node,
            machine.motion,
            self._clock,
            topic,
            lockstep=given.lockstep,
            dry=given.dry_run,
            on_desertion=self._on_desertion,
        )
        self._rivals = Rivals(node, topic, dry=given.dry_run)
        self._summaries = node.create_publisher(EpisodeSummary, "target/episodes", qos.EPISODES)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._goal = GoalPublisher(node, contract.frame)
        self._states = JointStates(
            node, robot, given.robot_namespace, self._clock, self._on_step if given.lockstep else None
        )
        self._cube: Cube | None = None
        if machine.motion.task.has_cube:
            self._cube = Cube(node, given.robot_namespace, contract.frame, lockstep=given.lockstep)
            machine.motion.cube_topic = self._cube.topic
        node.create_service(SetEnabled, "~/set_enabled", self._on_set_enabled)
        if given.lockstep:
            self._silence = node.create_timer(_SILENCE, self._on_silence, clock=STEADY)
        else:
            if self._clock.for_timer is STEADY:
                run_in_real_time(node)
            node.create_timer(robot.period, self._on_timer, clock=self._clock.for_timer)
        node.create_timer(_REPORT_PERIOD, self._report, clock=STEADY)
        dry = " (dry run: none is sent)" if given.dry_run else ""
        cube = f", the cube on {self._cube.topic}" if self._cube is not None else ""
        node.get_logger().info(f"{contract.task} on {robot.name}, commands on {topic}{dry}{cube}")
        if excluded := machine.motion.task.excluded_goals(robot):
            node.get_logger().warning(excluded)

    def wind_down(self) -> None:
        """Brake, and end when the arm is at rest."""
        self._machine.enabled = False
        self._ending_by = time.monotonic() + _WIND_DOWN

    @property
    def has_ended(self) -> bool:
        """Whether a node may end after a signal."""
        if self._ending_by is None:
            return False
        return not self._machine.motion.moving or time.monotonic() > self._ending_by

    def _on_step(self, now: float) -> None:
        self._silence.reset()
        self._tick(now)

    def _on_timer(self) -> None:
        now = self._clock.now()
        self._cadence.tick(now)
        self._tick(now)

    def _on_silence(self) -> None:
        state = self._states.state
        self._tick(state.time + _SILENCE if state else 0.0)

    def _tick(self, now: float) -> None:
        cube = self._cube.position if self._cube is not None else None
        states, hold = self._states, self._before_tick()
        fault = states.fault or self._rivals.problem or self._dispatch.problem(states.silence) or self._deserted or hold
        tick = self._machine.tick(states.state, cube, now, fault)
        if tick.command is not None:
            self._dispatch.send(tick.command, now, waits=tick.waits)
        if tick.finished is not None:
            self._hand_over(tick.finished)
        self._goal.publish(self._machine.goal)
        self._after_tick()
        self._tell()

    def _hand_over(self, finished: PlayedEpisode) -> None:
        summary = episode_summary(
            finished,
            origin=finished.origin,
            run_id=self._identity.run_id,
            collector_id=self._node.get_fully_qualified_name(),
            episode=self._episodes,
            stamp=self._node.get_clock().now().to_msg(),
        )
        self._episodes += 1
        self._on_episode(finished, summary)
        if finished.origin is Origin.TARGET:  # a script's success says nothing of a policy
            self._summaries.publish(summary)

    def _on_set_enabled(self, request: SetEnabled.Request, response: SetEnabled.Response) -> SetEnabled.Response:
        """Do as asked; a run repeats its call until it is answered, which must not undo a stop in between."""
        log = self._node.get_logger()
        response.message = self._identity.enabling_problem(request)
        if request.enabled and self._ending_by is not None:
            response.message = "refused: the node is ending"
        if response.message:
            log.warning(f"~/set_enabled: {response.message}")
            return response
        response.success = True
        if request.enabled and request.run_id and (self._disabled or self._machine.enabled):
            response.message = _STAYS_DISABLED if self._disabled else "enabled before"
            log.warning(f"~/set_enabled, called by the run: {response.message}")
            return response
        self._machine.enabled, self._disabled, self._deserted = request.enabled, not request.enabled, ""
        response.message = "enabled" if request.enabled else "braking, then silent"
        log.info(f"{response.message}, as asked by ~/set_enabled")
        return response

    def _on_desertion(self) -> None:
        """Hold until a person enables: whoever took the driver away may have the arm in hand when it comes back."""
        if self._machine.enabled and self._ending_by is None:
            self._deserted, self._disabled = _DESERTED, True

    def _tell(self) -> None:
        """Log a problem when it begins and when it ends."""
        problem, log = self._machine.problem, self._node.get_logger()
        idle = self._states.state is None or not self._machine.enabled
        starting = idle and not self._states.fault and time.monotonic() - self._began < _START
        if starting or _FIGURES.sub("", problem) == _FIGURES.sub("", self._told):
            return
        if not problem:
            log.info(f"recovered: {self._machine.phase.value}")
        elif not log.warning(f"holding: {problem}", throttle_duration_sec=1.0):
            return  # it came too soon after another one; the next tick tries again
        self._told = problem

    def _report(self) -> None:
        self._rivals.look()
        self._dispatch.look()
        machine, cadence = self._machine, self._cadence.report()
        figures = {
            "target_rate": cadence.target_rate,
            "actual_rate": round(cadence.actual_rate, 2),
            "late_ticks": self._cadence.total_late,
            "ticks": self._cadence.total_ticks,
            "worst_period_ms": round(cadence.worst * 1e3, 1),
            "withheld_commands": self._dispatch.withheld,
            "refused_joint_states": self._states.refused,
            **({"refused_cubes": self._cube.refused} if self._cube is not None else {}),
            "state_age_ms": round(self._states.silence * 1e3, 1) if self._states.state else "never",
            **machine.figures(),
        }
        name, stamp = self._node.get_fully_qualified_name(), self._node.get_clock().now().to_msg()
        robot, phase = machine.motion.robot.name, machine.phase.value
        self._diagnostics.publish(control_report(name, robot, phase, machine.problem, figures, stamp))
