"""What the policy controller does at each tick: run the newest policy toward the goal, or brake and be silent."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Final, Protocol

import numpy as np

from ompo_ros.control.cadence import Durations
from ompo_ros.control.episode import Episode, FinishedEpisode
from ompo_ros.control.motion import NO_CUBE, Motion, Tick
from ompo_ros.control.observation import observe
from ompo_ros.control.safety import ArmState
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot
from ompo_ros.task.tasks import INCREMENT, Float32Array, Task

BLEND_TIME: Final = 0.2  # s over which an action goes from one policy's to the next one's
_GOAL_TOLERANCE: Final = 1e-3  # m by which a goal may be out of the task's box


class Policy(Protocol):
    """What acts: the policy runtime, or anything like it."""

    @property
    def version(self) -> int: ...

    @property
    def sha256(self) -> str: ...

    def act(self, obs: Float32Array) -> Float32Array: ...


class Phase(str, Enum):
    """Where the controller stands."""

    WAITING = "waiting for a sound joint state"
    DISABLED = "disabled"
    NO_POLICY = "waiting for a policy"
    STOPPED = "stopped until enabled again"
    RUNNING = "running"


class Controller:
    """The state machine; time comes with each tick, policies from `newest`, which is asked once a tick.

    It is silent until enabled. Bad joint states brake the arm and let it go on when good ones return; an arm that does
    not follow and a policy that proposes nonsense stop it until somebody enables it again.
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        newest: Callable[[], Policy | None],
        *,
        goal: FloatArray,
        speed_scale: float = 1.0,
        blend_time: float = BLEND_TIME,
    ) -> None:
        self.phase = Phase.WAITING
        self.problem = "no joint state has come yet"
        self.goal = check_goal(task, goal)
        self._robot = robot
        self._task = task
        self._newest = newest
        self.motion = Motion(robot, task, speed_scale)
        self.policy: Policy | None = None  # the one that runs, or will once the arm may move
        self._enabled = False
        self._stopped_by = ""
        self._swaps = 0
        self._blend_step = robot.period / max(blend_time, robot.period)
        self._blend = 0.0  # share of `_offset` in the action
        self._offset: FloatArray = np.zeros(JOINTS)
        self._action: FloatArray = np.zeros(JOINTS)  # the last one; zero while the arm stands
        self._attempt: Episode | None = None
        self._attempts = self._successes = 0
        self._inference = Durations()

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled, self._stopped_by = value, ""
        self.motion.trust()

    def go_to(self, goal: FloatArray) -> None:
        """Take another goal (3,), or raise ValueError; while the arm runs, an attempt at it begins."""
        self.goal = check_goal(self._task, goal)
        self._attempt = Episode(self._task, deterministic=True) if self.phase is Phase.RUNNING else None

    def figures(self) -> dict[str, str | int | float]:
        """What a diagnostics page shows of the controller."""
        return {
            "phase": self.phase.value,
            "policy_version": self.policy.version if self.policy else 0,
            "policy_sha256": self.policy.sha256 if self.policy else "",
            "policy_swaps": self._swaps,
            "inference_p50_us": round(self._inference.percentile(50) * 1e6, 1),
            "inference_p99_us": round(self._inference.percentile(99) * 1e6, 1),
            "goal": " ".join(f"{x:.3f}" for x in self.goal),
            "attempts": self._attempts,
            "successes": self._successes,
            **self.motion.figures(),
        }

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick:
        """Advance by one control period; `fault` says what is wrong with the robot's messages, if anything is."""
        if not self.motion.due(now):
            return Tick()
        starts = self._swap() or self.phase is not Phase.RUNNING
        # A state that goes stale before the next tick would be acted on too long.
        doubt = fault or self.motion.doubt(state, cube, now)
        if doubt or state is None:
            return self._stop(Phase.WAITING, doubt, state, now)
        if not self._enabled:
            return self._stop(Phase.DISABLED, "", state, now)
        if self._stopped_by or self.motion.retreating:
            return self._stop(Phase.STOPPED, self._stopped_by, state, now)
        if self.policy is None:
            return self._stop(Phase.NO_POLICY, "no stable policy has come yet", state, now)
        self.motion.begin(state)
        self.phase, self.problem = Phase.RUNNING, ""
        return self._run(self.policy, starts, state, NO_CUBE if cube is None else cube, now)

    def _swap(self) -> bool:
        """Look for another policy; an attempt that two of them had a hand in counts for neither."""
        newest = self._newest()
        if newest is self.policy:
            return False
        self._swaps += self.policy is not None
        self.policy, self._attempt = newest, None
        return True

    def _run(self, policy: Policy, starts: bool, state: ArmState, cube: FloatArray, now: float) -> Tick:
        obs = observe(self._task, state.position, state.velocity, cube, self.goal)
        finished = self._look_at_attempt(obs)
        wanted = self._ask(policy, obs)
        if not np.isfinite(wanted).all():
            return self._give_up(f"policy {policy.version} gives an action that is not finite", state, now)
        action = self._blended(wanted, starts)
        if self._attempt is not None:
            self._attempt.act(action.astype(np.float32), policy.version)
        command, why = self.motion.propose(state, state.position + INCREMENT * action, now)
        if why:
            self._halt(Phase.STOPPED, why)
            self._stopped_by = why
        return Tick(command, finished)

    def _ask(self, policy: Policy, obs: Float32Array) -> FloatArray:
        began = time.perf_counter()
        wanted = policy.act(obs)
        self._inference.add(time.perf_counter() - began)
        return wanted.astype(np.float64)

    def _blended(self, wanted: FloatArray, starts: bool) -> FloatArray:
        """Go on from the last action, whoever's it was, and let the difference to the wanted one fade away."""
        if starts:
            self._offset, self._blend = self._action - wanted, 1.0
        self._action = np.clip(wanted + self._blend * self._offset, -1.0, 1.0)
        self._blend = max(self._blend - self._blend_step, 0.0)
        return self._action

    def _look_at_attempt(self, obs: Float32Array) -> FinishedEpisode | None:
        if self._attempt is None or not self._attempt.observe(obs):
            return None
        finished, self._attempt = self._attempt.finish(), None
        self._attempts += 1
        self._successes += finished.success
        return finished

    def _give_up(self, why: str, state: ArmState, now: float) -> Tick:
        self._stopped_by = why
        return self._stop(Phase.STOPPED, why, state, now)

    def _stop(self, phase: Phase, problem: str, state: ArmState | None, now: float) -> Tick:
        self._halt(phase, problem)
        return Tick(self.motion.brake(state, now))

    def _halt(self, phase: Phase, problem: str) -> None:
        self.phase, self.problem = phase, problem
        self._attempt, self._action = None, np.zeros(JOINTS)


def check_goal(task: Task, goal: FloatArray) -> FloatArray:
    """Give the goal (3,) back if the task has such goals; ValueError tells where they lie."""
    low, high = task.goal_box
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise ValueError(f"goal {goal.tolist()}: three finite coordinates are needed")
    if (goal < low - _GOAL_TOLERANCE).any() or (goal > high + _GOAL_TOLERANCE).any():
        raise ValueError(
            f"goal {goal.tolist()}: {task.name} has goals from {low.tolist()} to {high.tolist()} m in the base frame"
        )
    return goal
