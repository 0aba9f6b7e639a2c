"""The robot's 1 kHz loop, alone in its process: it never waits for anything but the robot.

Started by `process.py` with a socket and the settings. It ends when the other side of the socket is closed, after the
arm has come to rest.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import socket
import sys
import time
from typing import Final

import numpy as np
import pylibfranka as fci

from ompo_ros.fci import messages
from ompo_ros.fci.limits import Limits
from ompo_ros.fci.link import Ended, Link
from ompo_ros.fci.loss import catch_up
from ompo_ros.fci.messages import Counts, Phase, Settings, State
from ompo_ros.fci.motion import CYCLE, Motion
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import load_robot

FAILURES: Final = (fci.FrankaException, RuntimeError)  # what pylibfranka raises
_PRIORITY: Final = 60  # above the other nodes' 50
_REST: Final = 1.0  # s without a command, after which an arm at rest is left to the robot, which holds it
_BEGIN: Final = 20  # cycles at the start of a motion in which the robot may still compare with its own last position
_SETTLING: Final = 0.3  # s after the motion's end: the robot holds what it measures when it is left alone
_PAUSE: Final = 0.5  # s without a command: the sender was disabled, or is another one
_DEAF: Final = 0.1  # s without a look at the packets: this process was stopped, or the robot blocked it
_RETRY: Final = 0.2  # s between two attempts to connect
_LATE: Final = 2.0 * CYCLE
_RECENT: Final = 0.1  # s in which lost cycles may have caused a reflex


class Loop:
    """Follows setpoints while they come; latches after a reflex, a user stop or a lost connection."""

    def __init__(self, settings: Settings, link: Link) -> None:
        self._settings, self._link = settings, link
        preset = load_robot(settings.robot)
        self._limits, self._period = Limits.of(preset), preset.period
        self._robot: fci.Robot | None = None
        self._phase = Phase.CONNECTING
        self._setpoint: FloatArray | None = None  # the newest one that was not yet taken
        self._heard = -np.inf  # when the last setpoint came, taken or not
        self._listened = -np.inf
        self._ending = False
        self._lost_at = -np.inf
        self._cycles = self._lost = self._late = self._setpoints = self._refused = 0
        self._success, self._worst, self._last_cycle = 0.0, 0.0, time.monotonic()
        self._every = max(round(1.0 / (CYCLE * settings.state_rate)), 1)
        self._gain = 1.0
        if settings.cutoff:
            self._gain = CYCLE / (CYCLE + 1.0 / (2.0 * np.pi * settings.cutoff))
        self._smooth: FloatArray | None = None  # velocities and efforts after the filter

    def run(self) -> None:
        """Connect and follow until the node is gone."""
        try:
            while not self._ending:
                self._serve(self._robot or self._connected())
        except Ended:
            pass

    def _serve(self, robot: fci.Robot) -> None:
        try:
            self._wait(robot)
            if self._setpoint is not None:
                self._follow(robot)
        except fci.NetworkException as error:
            self._robot = None
            self._stop(f"connection lost ({_short(error)}): check the cable and the robot's power")
        except FAILURES as error:
            recently = time.monotonic() - self._lost_at < _RECENT
            loss = ", just after a cycle was lost: is this machine too busy?" if recently else ""
            self._stop(_name_of(error, robot) + loss)

    def _connected(self) -> fci.Robot:
        """Try until there is a robot, the node decides how long; a lost one is looked for again when asked."""
        while self._phase is Phase.STOPPED:
            self._hear(wait=_RETRY)
        while self._robot is None:
            try:
                self._connect()
            except FAILURES as error:
                self._link.send(messages.EVENT + _short(error).encode())
                self._hear(wait=_RETRY)
        self._last_cycle = time.monotonic()
        self._link.send(messages.CONNECTED)
        if self._phase is Phase.CONNECTING:
            self._phase = Phase.WAITING
        return self._robot

    def _connect(self) -> fci.Robot:
        robot = fci.Robot(self._settings.robot_ip, fci.RealtimeConfig.kIgnore)
        self._configure(robot)
        self._robot = robot
        return robot

    def _configure(self, robot: fci.Robot) -> None:
        given = self._settings
        robot.set_collision_behavior(
            given.collision_torque, given.collision_torque, given.collision_force, given.collision_force
        )
        robot.set_joint_impedance(given.joint_impedance)
        if given.load_mass:
            robot.set_load(given.load_mass, given.load_centre, given.load_inertia)

    def _wait(self, robot: fci.Robot) -> None:
        """Report states until there is a setpoint to follow."""
        while self._setpoint is None and self._robot is robot:
            state = robot.read_once()
            self._look_at(state)
            if self._phase is not Phase.STOPPED and _is_stopped(state):
                self._stop(_reason(state))
            self._hear()

    def _follow(self, robot: fci.Robot) -> None:
        """Move with the setpoints until none has come for a while."""
        control = robot.start_joint_position_control(fci.ControllerMode.JointImpedance)
        state, _ = control.readOnce()
        motion = Motion(self._limits, self._period, np.array(state.q_d))
        self._phase, rested = Phase.FOLLOWING, 0.0
        for cycle in itertools.count():
            if self._setpoint is not None and cycle >= _BEGIN:
                motion.setpoint(self._setpoint, self._heard)
                self._setpoint = None
            command = fci.JointPositions(motion.advance())
            rested = rested + CYCLE if motion.at_rest else 0.0
            command.motion_finished = rested > _SETTLING and (self._ending or time.monotonic() - self._heard > _REST)
            control.writeOnce(command)
            if command.motion_finished:
                break
            state, duration = control.readOnce()
            lost = catch_up(motion, state, round(duration.to_sec() / CYCLE))
            if lost:
                self._lost, self._lost_at = self._lost + lost, time.monotonic()
            self._look_at(state)
            self._hear()
        self._phase = Phase.WAITING

    def _look_at(self, state: fci.RobotState) -> None:
        now = time.monotonic()
        gap, self._last_cycle = now - self._last_cycle, now
        self._cycles += 1
        self._late += gap > _LATE
        self._worst = max(self._worst, gap)
        self._success = state.control_command_success_rate
        moving = np.array([state.dq, state.tau_J])
        self._smooth = moving if self._smooth is None else self._smooth + self._gain * (moving - self._smooth)
        if self._cycles % self._every == 0:
            counts = Counts(
                self._cycles, self._lost, self._late, self._worst, self._success, self._setpoints, self._refused
            )
            velocity, effort = self._smooth
            self._link.send(State(np.array(state.q), velocity, effort, self._phase, counts).packed())
            self._worst = 0.0

    def _hear(self, wait: float = 0.0) -> None:
        if self._ending:
            return
        now = time.monotonic()
        if now - self._listened > _DEAF:
            self._heard = now  # as far as is known nothing has paused
        self._listened = now
        try:
            for packet in self._link.packets(wait):
                if packet[:1] == messages.SETPOINT:
                    self._hear_setpoint(np.frombuffer(packet[1:]))
                elif packet[:1] == messages.RECOVER:
                    self._link.send(messages.answer_to(packet, self._recover()))
        except Ended:
            if self._phase is not Phase.FOLLOWING:
                raise
            self._ending = True  # first come to rest

    def _hear_setpoint(self, position: FloatArray) -> None:
        now = time.monotonic()
        if self._phase is Phase.RECOVERED and now - self._heard > _PAUSE:
            self._phase = Phase.WAITING
        self._heard = now
        self._setpoints += 1
        if self._phase in (Phase.WAITING, Phase.FOLLOWING) and np.isfinite(position).all():
            self._setpoint = position
        else:
            self._refused += 1

    def _stop(self, reason: str) -> None:
        """Refuse all setpoints until somebody asks to recover."""
        self._phase, self._setpoint = Phase.STOPPED, None
        self._link.send(messages.FAULT + reason.encode())
        if self._ending:
            raise Ended

    def _recover(self) -> str:
        """Clear the robot's errors; returns what is wrong, or ""."""
        if self._phase is not Phase.STOPPED:
            return ""
        try:
            robot = self._robot or self._connect()
            if robot.read_once().robot_mode != fci.RobotMode.UserStopped:
                robot.automatic_error_recovery()
            state = robot.read_once()
        except fci.NetworkException as error:
            self._robot = None
            return _short(error)
        except FAILURES as error:
            return _short(error)
        if _is_stopped(state):
            return _reason(state)
        self._phase, self._heard = Phase.RECOVERED, time.monotonic()  # as far as is known nothing has paused
        return ""


def _name_of(error: Exception, robot: fci.Robot) -> str:
    """The robot's own name for what stopped it; libfranka's text if there is none."""
    try:
        state = robot.read_once()
    except FAILURES:
        return _short(error)
    return _reason(state) if _is_stopped(state) else _short(error)


def _is_stopped(state: fci.RobotState) -> bool:
    return bool(state.robot_mode in (fci.RobotMode.Reflex, fci.RobotMode.UserStopped))


def _reason(state: fci.RobotState) -> str:
    if state.robot_mode == fci.RobotMode.UserStopped:
        return "user stop: release it, then call ~/recover"
    errors = state.current_errors if state.current_errors else state.last_motion_errors
    names = re.findall(r"\w+", str(errors))
    return f"reflex: {', '.join(names) or 'the robot names no reason'}"


def _short(error: Exception) -> str:
    return str(error).removeprefix("libfranka: ").strip()


def main() -> None:
    """Run the loop on the socket and with the settings that the command line names."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the node's end is what counts
    link = Link(socket.socket(fileno=int(sys.argv[1])))
    settings = Settings.of_text(sys.argv[2])
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        link.send(messages.EVENT + b"no real-time priority: allow it (ulimit -r 60), or expect late cycles")
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection takes longer than a cycle
    Loop(settings, link).run()


if __name__ == "__main__":
    main()
