"""Wrong launch arguments are refused before anything starts, with what was probably meant."""

import subprocess

import pytest

from ompo_ros.launching.arguments import ARGUMENTS, SIMULATED, InvalidArgument, check_values
from ompo_ros.learning.config import Config
from ompo_ros.parameters import parameters_of
from ompo_ros.sim.stand_in import SIMULATORS


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("target_steps", "-5", r"target_steps:=-5 is not within \[0, 1000000000\]"),
        ("target_steps", "1.5", "target_steps:=1.5 is no whole number"),
        ("seed", "x", "seed:=x is no whole number"),
        ("num_sources", "0", r"num_sources:=0 is not within \[1, 256\]"),
        ("speed_scale", "2", r"speed_scale:=2 is not within \[0.01, 1\]"),
        ("speed_scale", "nan", "speed_scale:=nan is not within"),
        ("real_time_factor", "fast", "real_time_factor:=fast is no number"),
        ("algorithm", "omop", r"algorithm:=omop is not possible; did you mean ompo\?"),
        ("namespace", "a b", "namespace:=a b is not possible; use letters, digits and _"),
        ("device", "gpu", "device:=gpu is not possible; known: auto, cpu, cuda, cuda:N"),
        ("target", "gazebo", "target:=gazebo is not possible; known: auto, panda_gym, mujoco, franka_sim, fci, real"),
    ],
)
def test_a_wrong_value_is_refused_by_the_arguments_name(name, value, said):
    with pytest.raises(InvalidArgument, match=said):
        check_values({name: value})


def test_every_default_is_possible():
    check_values({name: argument.default for name, argument in ARGUMENTS.items()})


@pytest.mark.parametrize("name", ["algorithm", "setting"])
def test_an_argument_allows_all_that_the_learner_can_do(name):
    for value in next(item.choices for item in parameters_of(Config) if item.name == name):
        check_values({name: value})


def test_the_stand_ins_of_a_launch_are_the_simulators_that_there_are():
    assert SIMULATED == SIMULATORS


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("adapt.launch.py", "targets_steps:=300", "targets_steps:= is no argument of adapt.launch.py; did you mean"),
        ("learner.launch.py", "target_step:=3", "target_step:= is no argument of learner.launch.py; did you mean"),
        ("deploy.launch.py", "polcy:=x", "polcy:= is no argument of deploy.launch.py; did you mean policy?"),
    ],
)
def test_an_unknown_argument_starts_nothing(file, given, said):
    command = ["ros2", "launch", "ompo_ros", file, given]
    launch = subprocess.run(command, capture_output=True, text=True, check=False)
    assert launch.returncode == 1
    assert said in launch.stdout.splitlines()[-1]
    assert "process started" not in launch.stdout


def test_a_launch_file_that_includes_ours_may_have_arguments_of_its_own(tmp_path):
    file = tmp_path / "mine.launch.py"
    file.write_text(
        "from launch import LaunchDescription\n"
        "from launch.actions import DeclareLaunchArgument\n"
        "from ompo_ros.launching.nodes import include\n"
        "def generate_launch_description():\n"
        "    return LaunchDescription([DeclareLaunchArgument('mine'), include('adapt', {'seed': 'x'})])\n"
    )
    launch = subprocess.run(["ros2", "launch", file, "mine:=1"], capture_output=True, text=True, check=False)
    assert "seed:=x is no whole number" in launch.stdout


def test_a_parameter_that_only_the_last_part_sets_is_refused_before_the_first_starts(tmp_path):
    (tmp_path / "mine.yaml").write_text("target_collector:\n  ros__parameters: {task: push}\n")
    command = ["ros2", "launch", "ompo_ros", "adapt.launch.py", "params_file:=mine.yaml"]
    launch = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert launch.returncode == 1
    assert "mine.yaml sets task of target_collector, which the launch sets" in launch.stdout.splitlines()[-1]
    assert "process started" not in launch.stdout
    assert not (tmp_path / "runs").exists()
