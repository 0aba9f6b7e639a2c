"""What the policy controller does at each tick: run the newest policy toward the goal, or brake and be silent."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Final

import numpy as np

from ompo_ros.control.attempts import Attempts
from ompo_ros.control.blend import Blend
from ompo_ros.control.cadence import Durations
from ompo_ros.control.cube_place import REST_TIME, CubePlace
from ompo_ros.control.motion import NO_CUBE, Motion, Tick
from ompo_ros.control.observation import observe
from ompo_ros.control.safety import ArmState, Reason
from ompo_ros.task.acting import Policy
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import INCREMENT, Float32Array, Task

ENABLE: Final = "ompo enable"
BLEND_TIME: Final = 0.2  # s over which an action goes from one policy's to the next one's


class ControllerPhase(str, Enum):
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
        cube_rest_time: float = REST_TIME,
    ) -> None:
        self.motion = Motion(robot, task, speed_scale, ENABLE)
        self.phase = ControllerPhase.WAITING
        self.problem = "no joint state has come yet"
        self.policy: Policy | None = None  # the one that runs, or will once the arm may move
        self._newest = newest
        self._attempts = Attempts(task, goal)
        self._cube_place = CubePlace(task, robot, cube_rest_time)
        self._blend = Blend(robot.period, blend_time)
        self._enabled = False
        self._stopped_by = ""
        self._swaps = 0
        self._inference = Durations()

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled, self._stopped_by = value, ""
        self.motion.trust()

    @property
    def goal(self) -> FloatArray:
        return self._attempts.goal

    @property
    def is_under_way(self) -> bool:
        """Whether the goal was sent and is not yet judged."""
        return self._attempts.is_under_way

    @property
    def outcome(self) -> str:
        """How the last goal that was sent ended; empty until then."""
        return self._attempts.outcome

    def go_to(self, goal: FloatArray) -> None:
        """Take another goal (3,), or raise ValueError; an attempt at it begins as soon as the arm runs."""
        self._attempts.aim(goal)

    def figures(self) -> dict[str, str | int | float]:
        """What a diagnostics page shows of the controller."""
        return {
            "phase": self.phase.value,
            "policy_version": self.policy.version if self.policy else 0,
            "policy_sha256": self.policy.sha256 if self.policy else "",
            "policy_swaps": self._swaps,
            "inference_p50_us": round(self._inference.percentile(50) * 1e6, 1),
            "inference_p99_us": round(self._inference.percentile(99) * 1e6, 1),
            "frame": self.motion.contract.frame,
            **self._attempts.figures(),
            **self.motion.figures(),
        }

    def tick(self, state: ArmState | None, cube: FloatArray | None, now: float, fault: str = "") -> Tick:
        """Advance by one control period; `fault` says what is wrong with the robot's messages, if anything is."""
        if not self.motion.due(now):
            return Tick()
        starts = self._swap() or self.phase is not ControllerPhase.RUNNING
        keep_away = self._cube_place.wait(cube, state, now, running=self.phase is ControllerPhase.RUNNING)
        doubt = fault or self.motion.doubt(state, cube, now)
        if doubt or state is None:
            return self._stop(ControllerPhase.WAITING, doubt, state, now)
        if not self._enabled:
            return self._stop(ControllerPhase.DISABLED, "", state, now)
        if self._stopped_by or self.motion.retreating:
            return self._stop(ControllerPhase.STOPPED, self._stopped_by, state, now)
        if self.policy is None:
            return self._stop(ControllerPhase.NO_POLICY, "no stable policy has come yet", state, now)
        if self._cube_place.lost(cube):
            keep_away = self._cube_place.ask(cube)
        if keep_away:
            return self._stop(ControllerPhase.WAITING, keep_away, state, now)
        self.motion.begin(state)
        self.phase, self.problem = ControllerPhase.RUNNING, ""
        return self._run(self.policy, starts, state, NO_CUBE if cube is None else cube, now)

    def _swap(self) -> bool:
        """Look for another policy; an attempt that two of them had a hand in counts for neither."""
        newest = self._newest()
        if newest is self.policy:
            return False
        self._swaps += self.policy is not None
        self.policy = newest
        if newest is not None:
            self.motion.expect_lead(INCREMENT * newest.rest_action.astype(np.float64))
        self._attempts.abandon()
        return True

    def _run(self, policy: Policy, starts: bool, state: ArmState, cube: FloatArray, now: float) -> Tick:
        obs = observe(self.motion.task, state.position, state.velocity, cube, self.goal)
        finished = self._attempts.observe(obs)
        wanted = self._ask(policy, obs)
        if not np.isfinite(wanted).all():
            self._stopped_by = f"policy {policy.version} gives an action that is not finite"
            return self._stop(ControllerPhase.STOPPED, self._stopped_by, state, now)
        action = self._blend.towards(wanted, starts=starts)
        self._attempts.act(action, policy.version)
        command, why = self.motion.propose(state, state.position + INCREMENT * action, now)
        if command is not None and Reason.WORKSPACE in command.reasons:
            self._attempts.held_back += 1
        if why:
            self._stopped_by = why
            self._halt(ControllerPhase.STOPPED, why)
        return Tick(command, finished)

    def _ask(self, policy: Policy, obs: Float32Array) -> FloatArray:
        began = time.perf_counter()
        wanted = policy.act(obs)
        self._inference.add(time.perf_counter() - began)
        return wanted.astype(np.float64)

    def _stop(self, phase: ControllerPhase, problem: str, state: ArmState | None, now: float) -> Tick:
        self._halt(phase, problem)
        return Tick(self.motion.brake(state, now))

    def _halt(self, phase: ControllerPhase, problem: str) -> None:
        self.phase, self.problem = phase, problem
        self._attempts.abandon()
        self._blend.rest()
