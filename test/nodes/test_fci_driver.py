"""The FR3's driver over DDS, on a simulated robot that speaks the maker's protocol."""

import time

import launch_pytest
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from fci_robot import ANOTHER, ROBOT, require_simulator
from graphs import graph_of, node
from ompo_msgs.srv import SetEnabled
from sensor_msgs.msg import JointState
from sros2 import QUERIES, allowed, endpoints, profile_of
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from waiting import PATIENCE

from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES

COMMAND_TOPIC = "/ompo/forward_position_controller/commands"


@launch_pytest.fixture
def driven(ros_domain):
    require_simulator()
    return graph_of(
        node("franka_sim", robot_ip=ANOTHER), node("fci_driver", robot_ip=ANOTHER, connect_timeout=PATIENCE)
    )


@pytest.mark.launch(fixture=driven)
def test_sros_2_lets_driver_and_simulated_robot_say_and_hear_what_they_do(probe):
    for name, service in (("fci_driver", "recover"), ("franka_sim", "user_stop")):
        made_last = f"/ompo/{name}/{service}"
        probe.spin_until(lambda name=name, last=made_last: last in endpoints(probe, name, "services", "reply"))
        for kind, verb in QUERIES:
            used = endpoints(probe, name, kind, verb)
            assert used <= allowed(profile_of(name), kind, verb), (name, kind, verb)


@pytest.mark.launch(fixture=driven)
def test_the_driver_moves_the_arm_stops_with_it_and_waits_for_its_recovery(probe):
    states = probe.listen(JointState, "/ompo/joint_states", STATES)
    reports = probe.listen(DiagnosticArray, "/diagnostics", 10)
    commands = probe.node.create_publisher(Float64MultiArray, COMMAND_TOPIC, COMMANDS)
    asked = []

    def on_enabled(request, response):
        asked.append(request.enabled)
        return response

    probe.node.create_service(SetEnabled, "~/set_enabled", on_enabled)

    def go(target):
        """Command a position until the arm is there."""

        def is_there():
            commands.publish(Float64MultiArray(data=target.tolist()))
            return states and np.abs(np.array(states[-1].position) - target).max() < 5e-3

        probe.spin_until(is_there)

    def newest():
        return next((s for r in reversed(reports) for s in r.status if s.name == "/ompo/fci_driver: robot"), None)

    go(ROBOT.home + 0.1)
    assert list(states[-1].name) == list(ROBOT.joint_names)
    assert len(states[-1].velocity) == len(states[-1].effort) == 7

    probe.call(SetBool, "/ompo/franka_sim/user_stop", SetBool.Request(data=True))
    probe.spin_until(lambda: newest() is not None and newest().level == DiagnosticStatus.ERROR)
    assert newest().message.startswith("user stop")
    probe.spin_until(lambda: asked and not any(asked))  # whoever commands the arm must be enabled anew
    answer = probe.call(Trigger, "/ompo/fci_driver/recover", Trigger.Request())
    assert not answer.success
    assert "user stop" in answer.message

    probe.call(SetBool, "/ompo/franka_sim/user_stop", SetBool.Request(data=False))
    going_on = probe.node.create_timer(0.02, lambda: commands.publish(Float64MultiArray(data=ROBOT.home.tolist())))
    probe.spin_until(lambda: probe.call(Trigger, "/ompo/fci_driver/recover", Trigger.Request()).success)
    asked.clear()
    probe.spin_until(lambda: asked)  # again, by commands that did not pause
    probe.node.destroy_timer(going_on)
    paused = time.monotonic()
    probe.spin_until(lambda: newest().level == DiagnosticStatus.OK and time.monotonic() > paused + 1.0)
    asked.clear()
    go(ROBOT.home)
    assert not asked
