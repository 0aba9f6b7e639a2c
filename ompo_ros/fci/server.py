"""Serves a simulated FR3 by the maker's protocol. Runs in an environment of its own, which has none of our packages.

The command line gives the settings as JSON. Lines on the standard input press and release the user stop or raise a
reflex; its end ends the server. The word `ready` on the standard output says that the robot can be connected to.
"""

import contextlib
import gc
import json
import logging
import os
import sys
import threading
import time
from typing import Any, TextIO

import mujoco
import numpy as np
from franka_sim import mujoco_franka_sim
from franka_sim.franka_protocol import MoveStatus
from franka_sim.franka_sim_server import FrankaSimServer
from franka_sim.limits import tables
from franka_sim.server.constants import RobotMode

NOMINAL_GRAVITY = 9.81
PAYLOAD_RADIUS = 0.04  # m; the payload is a solid ball
LINKS = [*(f"fr3_link{i}" for i in range(1, 8)), "hand"]
JOINT_OF_LINK = [0, 1, 2, 3, 4, 5, 6, 6]  # the hand is scaled with the last link
SWITCH = 1e-4  # s; by default a thread may keep the others waiting for five cycles
PRIORITY = 55  # below the driver's loop, which must answer within a cycle
PATIENCE = 1.0  # s in which a command that has come is applied, on a busy machine too
JOINT_REFLEX = 6  # of the protocol's list of errors


class Arm(mujoco_franka_sim.MujocoFrankaSim):  # type: ignore[misc] # ships no types
    """The simulated arm with a domain's parameters."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._values = settings["values"]
        # The server's own gains are for a heavier model: with ours they swing.
        mujoco_franka_sim.ARM_POSITION_KP = np.multiply(settings["stiffness"], self._values["stiffness_scale"])
        mujoco_franka_sim.ARM_POSITION_KD = np.multiply(settings["damping"], self._values["servo_damping_scale"])
        mujoco_franka_sim.ARM_INITIAL_Q = np.array(settings["home"])
        super().__init__(model_path=settings["model"])

    def start(self) -> None:
        """Run the physics: the last thing that a server starts."""
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        super().start()

    def _configure_model(self) -> None:
        super()._configure_model()
        model, values = self.model, self._values
        links = [model.body(name).id for name in LINKS]
        scale = np.array(values["link_mass_scale"])[JOINT_OF_LINK]
        model.jnt_range[:7] = tables.JOINT_POSITION_LIMITS
        model.body_mass[links] *= scale
        model.body_inertia[links] *= scale[:, None]
        # The robot compensates nominal masses under nominal gravity, and no payload.
        model.body_gravcomp[links] = NOMINAL_GRAVITY / (values["gravity"] * scale)
        payload = model.body("payload").id
        model.body_gravcomp[payload] = 0.0
        model.body_mass[payload] = values["payload_mass"]
        model.body_inertia[payload] = 0.4 * values["payload_mass"] * PAYLOAD_RADIUS**2
        model.dof_damping[:7] *= values["joint_damping_scale"]
        model.dof_armature[:7] *= values["armature_scale"]
        model.dof_frictionloss[:7] = values["friction_loss"]
        model.opt.gravity[2] = -values["gravity"]
        model.pair_friction[:, :2] = values["contact_friction"]
        mujoco.mj_setConst(model, self.data)  # what MuJoCo derives from masses


class Server(FrankaSimServer):  # type: ignore[misc] # ships no types
    """The server with a user stop, which it lacks, and a robot's way with late commands."""

    _DRAIN_GATE_TIMEOUT = PATIENCE  # after its own 5 ms, a state goes out without the command that has come for it
    _commands_in_flight: int
    current_motion_id: int
    pressed = False

    def press(self) -> None:
        """Stop the motion as the user's stop button does, until it is released."""
        with self._motion_lock:
            self.pressed = True
            self._show_pressed()
            self._engage_idle_hold("user stop")
            if self.current_motion_id and self.client_socket is not None:
                self._pending_move_response = (
                    self.current_motion_id,
                    MoveStatus.kEmergencyAborted,
                    self._states_packed,
                )
                self.current_motion_id = 0

    def release(self) -> None:
        with self._motion_lock:
            self.pressed = False
            self.robot_state.state["robot_mode"] = RobotMode.kIdle

    def reflex(self) -> None:
        """Abort the motion as a collision does, which the server does not detect."""
        self._abort_with_error(JOINT_REFLEX, "joint_reflex: asked for")

    def reset_state(self) -> None:
        super().reset_state()
        self._show_pressed()

    def _absorb_within_motion_limits(self, command: Any, *, fresh: bool) -> bool:  # noqa: ANN401 - ships no types
        """Drop a late command, as a robot does; the server would take the cycles since then back instead."""
        return fresh and bool(super()._absorb_within_motion_limits(command, fresh=fresh))

    def _account_for_communication_cycle(self) -> None:
        """End a cycle; a command that counts for it is applied before its state goes out, as by a robot's one loop."""
        super()._account_for_communication_cycle()
        deadline = time.monotonic() + PATIENCE
        while self._commands_in_flight and time.monotonic() < deadline:
            time.sleep(self._DRAIN_GATE_YIELD)

    def handle_stop_move_command(self, *given: Any) -> None:  # noqa: ANN401 - passed on
        super().handle_stop_move_command(*given)
        self._show_pressed()

    def _refuse_move_while_latched(self, client_socket: Any, header: Any) -> bool:  # noqa: ANN401 - ships no types
        if self.pressed:
            status = MoveStatus.kCommandNotPossibleRejected
            self.send_move_response(client_socket, command_id=header.command_id, status=status)
            return True
        return bool(super()._refuse_move_while_latched(client_socket, header))

    def _show_pressed(self) -> None:
        if self.pressed:
            state = self.robot_state.state
            state["robot_mode"] = RobotMode.kUserStopped
            state["motion_generator_mode"] = 0  # none
            state["controller_mode"] = 3  # other


def listen(server: Server, lines: TextIO) -> None:
    """Do what the lines ask for; their end ends the server."""
    deeds = {"press": server.press, "release": server.release, "reflex": server.reflex}
    for line in lines:
        deeds[line.strip()]()
    server.stop()


def main() -> None:
    """Serve until the standard input ends; a robot keeps its own time, whatever else the machine does."""
    sys.setswitchinterval(SWITCH)
    gc.disable()
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    settings = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.WARNING)
    server = Server(
        host=settings["host"],
        physics_sim=Arm(settings),
        enable_gripper=False,
        enforce_motion_limits=True,
        enforce_comm_constraints=settings["enforce_communication"],
    )
    threading.Thread(target=listen, args=(server, sys.stdin), daemon=True).start()
    server.start()


if __name__ == "__main__":
    main()
