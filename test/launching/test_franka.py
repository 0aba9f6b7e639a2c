"""An FR3 by its maker's protocol: what does not fit is refused by the argument's name before anything starts."""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest
from launch import LaunchContext
from launch_ros.actions import Node

from ompo_ros.control.cube_place import REST_TIME
from ompo_ros.fci.collision import THRESHOLDS
from ompo_ros.launching import nodes
from ompo_ros.launching.arguments import ARGUMENTS, InvalidArgument
from ompo_ros.launching.files import check_arm
from ompo_ros.launching.franka import forces_to_set
from ompo_ros.nodes.parameters import TargetCollectorParameters
from ompo_ros.resources import resource_path
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import TASKS

FCI = {"target": "fci", "robot_ip": "172.16.0.2"}
LAUNCH_FILES = Path(__file__).parents[2] / "launch"
DEFAULTS = {name: argument.default for name, argument in ARGUMENTS.items()}


def chosen(**given):
    return {**DEFAULTS, "robot": "fr3", **given}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "fci"}, "target:=fci needs robot_ip:=ADDRESS"),
        ({"target": "mujoco", "robot_ip": "172.16.0.2"}, "robot_ip:=172.16.0.2 is for target:=fci"),
        ({"target": "franka_sim", "robot_ip": "172.16.0.2"}, "leave it out with target:=franka_sim"),
        ({"target": "fci", "robot_ip": "172.16.0.2", "robot": "panda"}, "robot:=panda is no FR3.*use robot:=fr3"),
        ({"target": "franka_sim", "robot": "panda"}, "robot:=panda is no FR3"),
        (
            {"target": "franka_sim", "driver": "franka_ros2"},
            "driver:=franka_ros2 takes a joint_trajectory.*leave driver",
        ),
        ({"target": "franka_sim", "real_time_factor": "2.0"}, "real_time_factor:=2.0 is not possible"),
        ({"target": "franka_sim", "task": "push"}, "task:=push is not possible: franka_sim has no cube"),
        (
            {"target": "franka_sim", "target_domain": "creeping"},
            "'creeping' sets action_bias, action_noise, which franka",
        ),
        ({"target": "franka_sim", "target_domain": "nowhere"}, "target_domain:=nowhere is not possible"),
    ],
)
def test_what_does_not_fit_an_fr3_by_its_makers_protocol_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said):
        check_arm(chosen(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"target": "fci", "robot_ip": "172.16.0.2"},
        {"target": "franka_sim"},
        {"target": "franka_sim", "target_domain": "sagging"},
    ],
)
def test_an_fr3_by_its_makers_protocol_needs_no_more_than_this(given):
    check_arm(chosen(**given))


def test_an_fr3_of_ones_own_is_an_fr3(tmp_path):
    own = tmp_path / "my_arm.yaml"
    own.write_text(resource_path("config/robots/fr3.yaml").read_text())
    check_arm(chosen(target="franka_sim", robot=str(own)))


@pytest.mark.parametrize("file", ["adapt.launch.py", "deploy.launch.py"])
def test_without_an_address_a_launch_starts_nothing(file, tmp_path):
    command = ["ros2", "launch", "ompo_ros", file, "target:=fci"]
    launch = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert launch.returncode == 1
    assert "target:=fci needs robot_ip:=ADDRESS" in launch.stdout.splitlines()[-1]
    assert "process started" not in launch.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def parameters_of_node(tmp_path, monkeypatch):
    """Lead a launch file to its nodes, start none, and give the parameters of one."""
    made = {}

    class Unstarted(Node):
        def __init__(self, *, name, parameters, **options):
            made[name] = parameters[0]
            super().__init__(name=name, parameters=parameters, **options)

        def execute(self, context):
            pass

    monkeypatch.setattr(nodes, "Node", Unstarted)
    monkeypatch.chdir(tmp_path)

    def lead(name, node, **given):
        made.clear()
        spec = importlib.util.spec_from_file_location(name, LAUNCH_FILES / f"{name}.launch.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        context = LaunchContext()
        context.launch_configurations.update({"view": "false", **given})
        visit_all(module.generate_launch_description(), context)
        return made[node]

    return lead


@pytest.fixture
def parameters_of_driver(parameters_of_node):
    return lambda name, **given: parameters_of_node(name, "fci_driver", **FCI, **given)


@pytest.mark.parametrize(("file", "arm"), [("adapt", "target_collector"), ("deploy", "policy_controller")])
def test_a_file_for_the_real_arm_can_be_rehearsed_with_its_wait_for_the_cube(file, arm, parameters_of_node, tmp_path):
    def wait(folder, **given):
        given = {"run_dir": folder, "task": "push", **given}
        return parameters_of_node(file, arm, **given).get("cube_rest_time", TargetCollectorParameters.cube_rest_time)

    assert wait("stand_in", target="mujoco") == 0.0
    real = {"target": "real", "driver": "franka_ros2"}
    assert wait("real", **real) == wait("fci", **FCI) == REST_TIME
    own = tmp_path / "mine.yaml"
    own.write_text(f"/**/{arm}:\n  ros__parameters: {{cube_rest_time: 5.0}}\n")
    for folder, target in (("second", {"target": "mujoco"}), ("third", real), ("fourth", FCI)):
        assert wait(folder, params_file=str(own), **target) == 5.0


def visit_all(entity, context):
    for part in entity.visit(context) or ():
        visit_all(part, context)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("file", ["adapt", "deploy"])
def test_the_driver_stops_at_the_forces_of_the_task_unless_a_file_says_otherwise(
    file, task, parameters_of_driver, tmp_path
):
    shipped = THRESHOLDS[task]
    by_task = {"collision_force": list(shipped.force), "collision_torque": list(shipped.torque)}
    assert parameters_of_driver(file, task=task, run_dir="first").items() >= by_task.items()
    own = tmp_path / "mine.yaml"
    own.write_text("/**/fci_driver:\n  ros__parameters: {load_mass: 0.7}\n")
    given = parameters_of_driver(file, task=task, run_dir="second", params_file=str(own))
    assert given.items() >= {**by_task, "load_mass": 0.7}.items()
    lower = [15.0, 15.0, 15.0, 5.0, 5.0, 5.0]
    own.write_text(f"/**/fci_driver:\n  ros__parameters: {{collision_force: {lower}}}\n")
    given = parameters_of_driver(file, task=task, run_dir="third", params_file=str(own))
    assert given.items() >= {**by_task, "collision_force": lower}.items()


def test_a_push_may_meet_more_than_a_reach_and_no_joint_more_than_it_can_hold():
    reach, push = (THRESHOLDS[task] for task in TASKS)
    assert push.force[0] > reach.force[0]
    assert (np.array(push.torque) <= load_robot("fr3").torque).all()


@pytest.mark.parametrize(("task", "target", "lines"), [("push", "real", 1), ("reach", "real", 0), ("push", "fci", 0)])
def test_a_push_behind_another_driver_asks_for_its_thresholds(task, target, lines):
    said = forces_to_set(chosen(task=task, target=target))
    assert len(said) == lines
    assert all("100 N and 75, 80, 70, 60, 12, 12, 12 Nm" in line for line in said)
