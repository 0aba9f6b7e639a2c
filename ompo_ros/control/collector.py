"""The target collector's tick: home, play an episode through the safety filter, hand it over, repeat."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Final

from ompo_ros.control.cube_place import REST_TIME, CubePlace
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.control.motion import Motion, Tick
from ompo_ros.control.player import Player
from ompo_ros.control.safety import ArmState
from ompo_ros.control.way_home import NoWayHome, WayHome
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import INCREMENT, Task

ENABLE: Final = "ompo enable --node target_collector"
_STOPS: Final = 5  # stops by the safety filter without a whole episode in between, before the arm is held


class CollectorPhase(str, Enum):
    """The collector's phase."""

    WAITING = "waiting for a sound joint state"
    IDLE = "holding"
    HOMING = "homing"
    RUNNING = "playing an episode"
    HELD = "held until enabled again"


class Collector:
    """The state machine of homing and playing, without ROS or clocks: time is an argument of each tick.

    Late or invalid joint states brake the arm; it resumes when valid ones arrive. An arm that does not follow is braked
    as well, since an exploring policy may press on things. It retries after homing, and is held until enabled again
    after five failures in a row or without a way home.
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        *,
        seed: int = 0,
        max_steps: int = 0,
        scripted: int = 0,
        speed_scale: float = 1.0,
        home: bool = True,
        cube_rest_time: float = REST_TIME,
    ) -> None:
        self.motion = Motion(robot, task, speed_scale, ENABLE)
        self.player = Player(task, robot.period, seed=seed, max_steps=max_steps, scripted=scripted)
        self.phase = CollectorPhase.WAITING
        self.problem = "no joint state has come yet"
        self._way_home = WayHome(self.motion, speed_scale) if home else None
        self._cube_place = CubePlace(task, robot, cube_rest_time)
        self._enabled = False
        self._held_by = ""
        self._stops = 0  # stops since the last whole episode

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled, self._held_by, self._stops = value, "", 0
        self.motion.trust()

    @property
    def goal(self) -> FloatArray | None:
        return self.player.goal

    def figures(self) -> dict[str, str | int]:
        """The collector's values for diagnostics."""
        return {
            "phase": self.phase.value,
            "policy_version": self.player.policy.version if self.player.policy else 0,
            "target_steps": self.player.target_steps,
            "demonstration_steps": self.player.demonstration_steps,
            **self.motion.figures(),
        }

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick:
        """Advance by one control period; `fault` says what is wrong with the robot's messages, if anything is."""
        if not self.motion.due(now):
            return Tick()
        keep_away = self._cube_place.wait(cube, state, now, running=self.phase is CollectorPhase.RUNNING)
        doubt = fault or self.motion.doubt(state, cube, now) or self.player.doubt(now)
        if doubt or state is None:
            return self._stop(CollectorPhase.WAITING, doubt, state, now)
        if self._held_by:
            return self._stop(CollectorPhase.HELD, self._held_by, state, now)
        if self.motion.retreating:
            return self._stop(CollectorPhase.WAITING, self.problem, state, now)
        self.problem = ""
        if not (self._enabled and self.player.has_work):
            waits = self._enabled and self.player.policy is None
            problem = "no policy has come on policy/latest yet" if waits else ""
            return self._stop(CollectorPhase.IDLE, problem, state, now)
        if keep_away:
            return self._stop(CollectorPhase.WAITING, keep_away, state, now)
        if self.phase is CollectorPhase.RUNNING and self._cube_place.lost(cube):
            ended = self.player.stop()  # an evaluated policy has failed
            stopped = self._stop(CollectorPhase.WAITING, "the cube is off the table or out of reach", state, now)
            return replace(stopped, finished=ended)
        if self.phase is CollectorPhase.RUNNING:
            return self._play(state, cube, now)
        if self.phase is not CollectorPhase.HOMING:
            self.motion.begin(state)
            self._go_home(state)
        return self._home(state, cube, now)

    def _go_home(self, state: ArmState) -> None:
        self.phase = CollectorPhase.HOMING
        if self._way_home is not None:
            self._way_home.begin(state)

    def _home(self, state: ArmState, cube: FloatArray | None, now: float) -> Tick:
        way = self._way_home
        try:
            arrived = way is None or way.arrived(state, now)
            misplaced = self._cube_place.ask(cube) if arrived else ""
            if arrived and not misplaced and self.player.may_begin:
                self.phase = CollectorPhase.RUNNING
                self.player.begin()
                return self._play(state, cube, now)
        except NoWayHome:
            self._held_by = f"no way home inside the workspace: move the arm by hand, then run `{ENABLE}`"
            return self._stop(CollectorPhase.HELD, self._held_by, state, now)
        self.problem = misplaced or (way.problem if way is not None else "")
        tick = self._send(state, state.position if way is None else way.next(state), now)
        return replace(tick, waits=arrived)

    def _play(self, state: ArmState, cube: FloatArray | None, now: float) -> Tick:
        self.player.sent(self.motion.filter.commanded(state))  # by now it is known whether the last command was
        step = self.player.step(state, cube, now)
        if not isinstance(step, PlayedEpisode):
            return self._send(state, state.position + INCREMENT * step, now)
        self._stops = 0
        if not self.player.has_work:
            return Tick(self._stop(CollectorPhase.IDLE, "", state, now).command, step)
        self._go_home(state)
        proposal = state.position if self._way_home is None else self._way_home.next(state)
        return Tick(self._send(state, proposal, now).command, step)

    def _send(self, state: ArmState, proposal: FloatArray, now: float) -> Tick:
        by_policy, way = self.phase is CollectorPhase.RUNNING, self._way_home
        at_home = not by_policy and way is not None and way.settles(state)
        command, why = self.motion.propose(state, proposal, now, by_policy=by_policy, at_home=at_home)
        ended = None
        if why:
            self.phase, self.problem = CollectorPhase.WAITING, f"stopped: {why}"
            self._stops += 1
            if self._stops == _STOPS:
                self._held_by = f"stopped {_STOPS} times in a row: {why}; remove what blocks it, then run `{ENABLE}`"
            ended = self.player.stop()
        return Tick(command, ended)

    def _stop(self, phase: CollectorPhase, problem: str, state: ArmState | None, now: float) -> Tick:
        self.phase, self.problem = phase, problem
        return Tick(self.motion.brake(state, now), self.player.drop())
