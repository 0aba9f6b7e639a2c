"""What the target collector does at each tick: home, play an episode through the safety filter, hand it over, again."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Protocol

import numpy as np

from ompo_ros.control.episode import Episode, FinishedEpisode
from ompo_ros.control.homing import Homing, detour
from ompo_ros.control.motion import NO_CUBE, Motion, Tick
from ompo_ros.control.observation import observe
from ompo_ros.control.safety import ArmState
from ompo_ros.control.workspace import Workspace
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot
from ompo_ros.task.tasks import INCREMENT, Float32Array, Task

_HOME: Final = 0.05  # rad from home at which an episode may begin
_REST: Final = 0.1  # rad/s from tick to tick: within one, an arm that is commanded anew each time always trembles
_SETTLE: Final = 1.0  # s that an arm may take to come to rest at home
_ROUGHLY_HOME: Final = 0.15  # rad: an arm that trembles or sags this much may begin after that time all the same
_BARRED: Final = 1.0  # s without progress on the way home until another way is tried
_DETOURS: Final = 20  # tried before somebody is asked for a hand
_STOPS: Final = 5  # of the safety filter without an episode between them until somebody has to look
_PROGRESS: Final = 0.02  # share of the way that counts as progress: an arm that presses on something still creeps
_MAX_GAP: Final = 2.0  # periods between two steps; beyond, an action acted longer than the task says


class Policy(Protocol):
    """What acts: the policy runtime, or anything like it."""

    @property
    def version(self) -> int: ...

    def act(self, obs: Float32Array) -> Float32Array: ...

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array: ...


class Phase(str, Enum):
    """Where the collector stands."""

    WAITING = "waiting for a sound joint state"
    IDLE = "holding"
    HOMING = "homing"
    RUNNING = "playing an episode"
    HELD = "held until enabled again"


@dataclass
class Evaluation:
    """Deterministic episodes of one policy, all from the same seed, so that two policies meet the same goals."""

    policy: Policy
    wanted: int
    rng: np.random.Generator
    played: list[FinishedEpisode] = field(default_factory=list)
    dropped: int = 0

    @property
    def done(self) -> bool:
        return len(self.played) >= self.wanted


class Collector:
    """The state machine; it knows neither ROS nor clocks, time comes with each tick.

    Bad joint states brake the arm and let it go on when good ones return, and so does an arm that does not follow: a
    policy that explores may press on things. One that never gets through, or finds no way home, is held until somebody
    enables it again.
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        *,
        seed: int = 0,
        max_steps: int = 0,
        speed_scale: float = 1.0,
        home: bool = True,
    ) -> None:
        self.robot = robot
        self.task = task
        self.motion = Motion(robot, task, speed_scale)
        self.policy: Policy | None = None
        self._enabled = False
        self._held_by = ""
        self._stops = 0  # of the safety filter since the last whole episode
        self._stopping = False
        self.evaluation: Evaluation | None = None
        self.phase = Phase.WAITING
        self.problem = "no joint state has come yet"
        self.target_steps = 0
        self._seed = seed
        self._max_steps = max_steps
        self._speed_scale = speed_scale
        self._homes = home
        self._rng = np.random.default_rng(seed)
        self._homing: Homing | None = None
        self._workspace = Workspace(robot)
        self._settled_by = 0.0
        self._last_position: FloatArray = np.full(JOINTS, np.inf)  # at the tick before, while homing
        self._on_detour = False
        self._detours = 0  # that were tried since the last episode, and did not help
        self._progress, self._progressed = 0.0, 0.0  # how far the way home was gone, and when that was
        self._episode: Episode | None = None
        self._goal: FloatArray = np.zeros(3)
        self._last_step = 0.0

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled, self._held_by, self._stops = value, "", 0
        self.motion.trust()

    @property
    def exploration_done(self) -> bool:
        return 0 < self._max_steps <= self.target_steps

    def figures(self) -> dict[str, str | int]:
        """What a diagnostics page shows of the collector."""
        return {
            "phase": self.phase.value,
            "policy_version": self.policy.version if self.policy else 0,
            "target_steps": self.target_steps,
            **self.motion.figures(),
        }

    def evaluate(self, policy: Policy, episodes: int) -> Evaluation:
        """Play `episodes` deterministic ones as soon as the running one has ended."""
        self.evaluation = Evaluation(policy, episodes, np.random.default_rng((self._seed, 1)))
        return self.evaluation

    def stop_evaluation(self) -> None:
        """Go back to exploring; a deterministic episode under way is dropped."""
        self.evaluation = None

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick:
        """Advance by one control period; `fault` says what is wrong with the robot's messages, if anything is."""
        if not self.motion.due(now):
            return Tick()
        doubt = fault or self._doubt(state, cube, now)
        if doubt or state is None:
            return self._stop(Phase.WAITING, doubt, state, now)
        if self._held_by:
            return self._stop(Phase.HELD, self._held_by, state, now)
        if self.motion.retreating:
            return self._stop(Phase.WAITING, self.problem, state, now)
        if self.phase in (Phase.WAITING, Phase.HELD):
            self.phase = Phase.IDLE
        self.problem = ""
        abandoned = self._episode is not None and self._episode.deterministic and self.evaluation is None
        if abandoned or not self._wanted():
            waits = self._enabled and self.policy is None
            return self._stop(Phase.IDLE, "no policy has come on policy/latest yet" if waits else "", state, now)
        if self.phase is Phase.IDLE:
            self.motion.begin(state)
            self._go_home(state)
        if self.phase is Phase.HOMING:
            return self._home(state, cube, now)
        return self._play(state, cube, now)

    def _wanted(self) -> bool:
        """Whether there is anything to do; an episode once begun is played to its end unless disabled."""
        if not self._enabled:
            return False
        evaluating = self.evaluation is not None and not self.evaluation.done
        exploring = self.policy is not None and not self.exploration_done
        return evaluating or exploring or self._episode is not None

    def _doubt(self, state: ArmState | None, cube: FloatArray | None, now: float) -> str:
        doubt = self.motion.doubt(state, cube, now)
        if doubt:
            return doubt
        if self._episode is not None and now - self._last_step > _MAX_GAP * self.robot.period:
            return f"{now - self._last_step:.3f} s between two steps of {self.robot.period:.3f} s"
        return ""

    def _stop(self, phase: Phase, problem: str, state: ArmState | None, now: float) -> Tick:
        self.phase, self.problem = phase, problem
        self._homing = None
        return Tick(self.motion.brake(state, now), self._drop())

    def _drop(self) -> FinishedEpisode | None:
        if self._episode is None:
            return None
        finished = self._episode.drop()
        self._episode = None
        if self.evaluation is not None and finished.deterministic:
            self.evaluation.dropped += 1
        return finished

    def _go_home(self, state: ArmState) -> None:
        self.phase = Phase.HOMING
        start = self.motion.filter.commanded(state)
        self._homing = Homing(self.robot, start, self._speed_scale) if self._homes else None
        self._settled_by = np.inf
        self._on_detour, self._progress, self._progressed = False, -1.0, state.time

    def _home(self, state: ArmState, cube: FloatArray | None, now: float) -> Tick:
        if self._homing is None:
            return self._begin(state, cube, now)
        if self._on_detour and self._homing.arrived:
            self._go_home(state)
        self._find_a_way(state)
        if self._held_by:
            return self._stop(Phase.HELD, self._held_by, state, now)
        if self._homing.arrived and not self._on_detour:
            self._settled_by = min(self._settled_by, now + _SETTLE)
            distance = np.abs(state.position - self.robot.home).max()
            speed = np.abs(state.position - self._last_position).max() / self.robot.period
            if distance < _HOME and speed < _REST:
                return self._begin(state, cube, now)
            if now >= self._settled_by:
                if distance < _ROUGHLY_HOME:
                    return self._begin(state, cube, now)
                self.problem = f"the arm stays {distance:.2f} rad from home: is something in its way?"
        self._last_position = state.position
        return self._send(state, self._homing.next(state.position), now, None)

    def _find_a_way(self, state: ArmState) -> None:
        """Go by another posture, each time a new one, where the workspace or a thing bars the straight way."""
        assert self._homing is not None  # noqa: S101 - HOMING means there is one
        if self._homing.progress > self._progress + _PROGRESS or self._homing.arrived:
            self._progress, self._progressed = self._homing.progress, state.time
        elif state.time - self._progressed > _BARRED:
            start = state.position  # give up what the commands were ahead: the arm may be pressing on something
            via = detour(self.robot, self._workspace, start, self._detours)
            if via is None or self._detours == _DETOURS:
                self._held_by = "no way home inside the workspace: move the arm by hand, then call ~/set_enabled"
                self._detours = 0
                return
            self._detours += 1
            self._homing = Homing(self.robot, start, self._speed_scale, via)
            self._on_detour, self._progress, self._progressed = True, -1.0, state.time

    def _begin(self, state: ArmState, cube: FloatArray | None, now: float) -> Tick:
        self.phase = Phase.RUNNING
        self._detours = 0
        evaluation = self.evaluation if self.evaluation is not None and not self.evaluation.done else None
        rng = self._rng if evaluation is None else evaluation.rng
        self._goal = self.task.goals(rng.random((1, 3)))[0]
        self._episode = Episode(self.task, deterministic=evaluation is not None)
        return self._play(state, cube, now)

    def _play(self, state: ArmState, cube: FloatArray | None, now: float) -> Tick:
        episode = self._episode
        assert episode is not None  # noqa: S101 - RUNNING means there is one
        self._last_step = now
        obs = observe(self.task, state.position, state.velocity, NO_CUBE if cube is None else cube, self._goal)
        if episode.observe(obs):
            finished = self._finish(episode)
            if not self._wanted():
                tick = self._stop(Phase.IDLE, "", state, now)
                return Tick(tick.command, finished)
            self._go_home(state)
            proposal = self._homing.next(state.position) if self._homing else state.position
            return self._send(state, proposal, now, finished)
        action, version = self._choose(obs, episode.deterministic)
        episode.act(action, version)
        return self._send(state, state.position + INCREMENT * action.astype(np.float64), now, None)

    def _finish(self, episode: Episode) -> FinishedEpisode:
        self._episode, self._stops = None, 0
        finished = episode.finish()
        if finished.deterministic and self.evaluation is not None:
            self.evaluation.played.append(finished)
        if not finished.deterministic:
            self.target_steps += finished.steps
        return finished

    def _choose(self, obs: Float32Array, deterministic: bool) -> tuple[Float32Array, int]:
        if deterministic and self.evaluation is not None:
            return self.evaluation.policy.act(obs), self.evaluation.policy.version
        assert self.policy is not None  # noqa: S101 - without one nothing begins
        return self.policy.sample(obs, self._rng), self.policy.version

    def _send(self, state: ArmState, proposal: FloatArray, now: float, finished: FinishedEpisode | None) -> Tick:
        command, why = self.motion.propose(state, proposal, now)
        if why:
            self.phase, self.problem, self._homing = Phase.WAITING, f"stopped: {why}", None
            self._stops += not self._stopping  # braking takes several ticks
            if self._stops == _STOPS:
                self._held_by = f"stopped {_STOPS} times in a row: {why}; see what bars it, then call ~/set_enabled"
            finished = finished or self._drop()
        self._stopping = bool(why)
        return Tick(command, finished)
