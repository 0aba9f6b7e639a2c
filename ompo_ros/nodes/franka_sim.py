"""Runs the simulated FR3 that speaks the maker's protocol, for fci_driver to connect to."""

from __future__ import annotations

from typing import Final

from rclpy.node import Node
from std_srvs.srv import SetBool

from ompo_ros.fci.simulated import SimulatedRobot
from ompo_ros.nodes.parameters import FrankaSimParameters
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY, run
from ompo_ros.task.robot import load_robot

_LOOK: Final = 0.5  # s


class FrankaSim(Node):
    """Ends with the server's process, and ends it."""

    def __init__(self) -> None:
        super().__init__("franka_sim", **OVERRIDES)
        given = declare(self, FrankaSimParameters)
        self.get_logger().info("starting the simulated robot; the first time this downloads 40 MB")
        self._robot = SimulatedRobot(
            load_robot(given.robot),
            given.domain,
            seed=given.seed,
            host=given.robot_ip,
            enforce_communication=given.enforce_communication,
        )
        self._robot.wait_until_ready()
        self.create_service(SetBool, "~/user_stop", self._on_user_stop)
        self.create_timer(_LOOK, self._look, clock=STEADY)
        self.get_logger().info(f"{given.robot} listens at {given.robot_ip}, domain {given.domain}")

    def destroy_node(self) -> None:
        """End the server first."""
        if hasattr(self, "_robot"):
            self._robot.close()
        super().destroy_node()

    def _on_user_stop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data:
            self._robot.press_user_stop()
        else:
            self._robot.release_user_stop()
        response.success, response.message = True, "pressed" if request.data else "released"
        return response

    def _look(self) -> None:
        if self._robot.process.poll() is not None:
            self._robot.close()
            raise RuntimeError(f"the simulated robot has ended: {self._robot.last_words}")


def main() -> None:
    """Run the simulated robot until stopped."""
    run(FrankaSim)


if __name__ == "__main__":
    main()
