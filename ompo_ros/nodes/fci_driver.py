"""A driver for the FR3 without ROS control: joint states out, setpoints in, the 1 kHz loop in a process of its own."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from functools import partial
from typing import Final

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ompo_msgs.srv import SetEnabled
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from std_srvs.srv import Trigger

from ompo_ros.fci import messages
from ompo_ros.fci.messages import Phase, Settings, State
from ompo_ros.fci.process import FciProcess
from ompo_ros.nodes.parameters import FciDriverParameters
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY, may_take_long, run
from ompo_ros.nodes.wire.repeated_call import RepeatedCall
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES, topic_in
from ompo_ros.parameters import InvalidParameter
from ompo_ros.task.robot import JOINTS, Robot, load_robot

_REPORT_PERIOD: Final = 1.0  # s
_LOOK: Final = 0.1  # s between two looks at what the loop has reported
_ANSWER: Final = 5.0  # s for a recovery
_PATIENCE: Final = 10.0  # s for a node to be disabled
_SIZES: Final = {
    "joint_impedance": JOINTS,
    "collision_torque": JOINTS,
    "collision_force": 6,
    "load_centre": 3,
    "load_inertia": 9,
}


class FciDriver(Node):
    """Passes setpoints on and states back; a thread reads the loop's packets, so that no callback delays them."""

    def __init__(self) -> None:
        super().__init__("fci_driver", **OVERRIDES)
        given = declare(self, FciDriverParameters)
        self._robot = load_robot(given.robot, given.driver)
        settings = _settings(given, self._robot)
        self._problem, self._must_disable, self._has_ended = "", False, False
        self._newest: State | None = None
        self._seen: State | None = None  # at the last look
        self._worst = 0.0  # s, the longest cycle since the last report
        self._recoveries = 0
        self._answers: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self._switches: dict[str, Client] = {}  # of the nodes that have commanded the arm, by service
        self._disabling: set[str] = set()
        driver = self._robot.driver
        topic = self.resolve_topic_name(topic_in(given.robot_namespace, driver.command_topic))
        self._states = self.create_publisher(JointState, topic_in(given.robot_namespace, driver.state_topic), STATES)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._fci = FciProcess(settings)
        may_take_long()  # as `connect_timeout` says
        self._fci.connect(given.connect_timeout)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._topic = topic
        self.create_subscription(Float64MultiArray, topic, self._on_command, COMMANDS)
        self.create_service(Trigger, "~/recover", self._on_recover)
        self.create_timer(_LOOK, self._look, clock=STEADY)
        self.create_timer(_REPORT_PERIOD, self._report, clock=STEADY)
        self.get_logger().info(f"{given.robot} at {given.robot_ip}, commands on {topic}")

    def destroy_node(self) -> None:
        """Bring the arm to rest first."""
        if hasattr(self, "_reader"):
            self._fci.close()
            self._reader.join()
        super().destroy_node()

    def _on_command(self, msg: Float64MultiArray) -> None:
        position = np.array(msg.data)
        if position.shape != (JOINTS,) or not np.isfinite(position).all():
            said = f"refused a command: {JOINTS} finite positions are needed, got {list(msg.data)}"
            self.get_logger().error(said, throttle_duration_sec=1.0)
            return
        self._fci.send_setpoint(position)

    def _on_recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        problem = self._recover()
        response.success = not problem
        response.message = problem or "recovered: enable the node that commands the arm to move it again"
        log = self.get_logger()
        if problem:
            log.error(f"~/recover: {problem}")
        else:
            self._problem = ""
            log.info(f"~/recover: {response.message}")
        return response

    def _recover(self) -> str:
        """What is wrong, or ""; the late answer to an earlier call is none."""
        self._recoveries += 1
        self._fci.ask_recovery(self._recoveries)
        deadline = time.monotonic() + _ANSWER
        while (left := deadline - time.monotonic()) > 0.0:
            with contextlib.suppress(queue.Empty):
                number, problem = self._answers.get(timeout=left)
                if number == self._recoveries:
                    return problem
        return f"the robot did not answer within {_ANSWER:g} s"

    def _read(self) -> None:
        for packet in self._fci.packets():
            kind, text = packet[:1], packet[1:]
            if kind == messages.STATE:
                self._publish(State.unpacked(packet))
            elif kind == messages.FAULT:
                self._problem, self._must_disable = text.decode(), True
                self.get_logger().error(f"stopped: {self._problem}. Call ~/recover when the arm may move again.")
            elif kind == messages.RECOVERED:
                self._answers.put(messages.read_answer(packet))
            elif kind == messages.EVENT:
                self.get_logger().warning(text.decode())
        self._has_ended = True

    def _publish(self, state: State) -> None:
        self._newest = state
        self._worst = max(self._worst, state.counts.worst)
        if self.context.ok():
            self._states.publish(
                JointState(
                    header=Header(stamp=self.get_clock().now().to_msg()),
                    name=list(self._robot.joint_names),
                    position=state.position.tolist(),
                    velocity=state.velocity.tolist(),
                    effort=state.effort.tolist(),
                )
            )

    def _look(self) -> None:
        if self._has_ended:
            raise RuntimeError("the process with the robot's loop has ended")
        self._look_at_phase()
        if self._must_disable:
            self._must_disable = False
            self._disable_senders()

    def _look_at_phase(self) -> None:
        """Notice a stop whose packet was lost, and commands that did not pause for a recovery."""
        newest, before = self._newest, self._seen
        self._seen = newest
        if newest is None or before is None:
            return
        if newest.phase is Phase.STOPPED and before.phase is not Phase.STOPPED and not self._problem:
            self._problem, self._must_disable = newest.phase.value, True
        if newest.phase is Phase.RECOVERED and newest.counts.refused > before.counts.refused:
            self._must_disable = True
            self.get_logger().warning(
                "refused commands that did not pause for the recovery: disable their node, then enable it again",
                throttle_duration_sec=1.0,
            )

    def _disable_senders(self) -> None:
        """Ask whoever commands the arm to stop: a recovered arm must not go on by itself."""
        for sender in self.get_publishers_info_by_topic(self._topic):
            service = f"{sender.node_namespace.rstrip('/')}/{sender.node_name}/set_enabled"
            if service in self._disabling:
                continue
            if service not in self._switches:
                self._switches[service] = self.create_client(SetEnabled, service)
            self._disabling.add(service)
            call = RepeatedCall(self, self._switches[service], SetEnabled.Request, patience=_PATIENCE)
            call.answer.add_done_callback(partial(self._on_disabled, service))

    def _on_disabled(self, service: str, answer: Future) -> None:
        self._disabling.discard(service)
        if answer.result() is None:
            self.get_logger().error(f"{service} did not answer: stop by hand whatever commands the arm")

    def _report(self) -> None:
        newest = self._newest
        if newest is None:
            return
        counts, worst, self._worst = newest.counts, self._worst, 0.0
        figures = {
            "control_command_success_rate": round(counts.success_rate, 3),
            "cycles": counts.cycles,
            "lost_packets": counts.lost,
            "late_cycles": counts.late,
            "worst_cycle_ms": round(worst * 1e3, 2),
            "setpoints": counts.setpoints,
            "refused_setpoints": counts.refused,
        }
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if self._problem else DiagnosticStatus.OK,
            name=f"{self.get_fully_qualified_name()}: robot",
            message=self._problem or newest.phase.value,
            hardware_id=self._robot.name,
            values=[KeyValue(key=key, value=str(value)) for key, value in figures.items()],
        )
        report = DiagnosticArray(status=[status])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)


def _settings(given: FciDriverParameters, robot: Robot) -> Settings:
    if not given.robot_ip:
        raise InvalidParameter("robot_ip", "is needed: the address that shows Desk, such as 172.16.0.2")
    if robot.driver.command_interface != "forward_command":
        raise InvalidParameter("driver", "fci_driver takes setpoints: choose one with forward_command")
    for name, size in _SIZES.items():
        values = getattr(given, name)
        if len(values) != size or not np.isfinite(values).all():
            raise InvalidParameter(name, f"{size} finite numbers are needed, got {list(values)}")
    return Settings(
        robot=given.robot,
        robot_ip=given.robot_ip,
        state_rate=given.state_rate,
        cutoff=given.cutoff_frequency,
        load_mass=given.load_mass,
        **{name: tuple(getattr(given, name)) for name in _SIZES},
    )


def main() -> None:
    """Drive the robot until stopped; the arm comes to rest first."""
    run(FciDriver)


if __name__ == "__main__":
    main()
