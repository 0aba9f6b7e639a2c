"""Worlds draw themselves on a machine without a screen, and nobody has to say how."""

import os
import subprocess
import sys

import pytest

from ompo_ros.sim.headless import choose_renderer

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")

DRAW = """
import sys
import gymnasium, ompo_ros.sim
env = gymnasium.make(sys.argv[1], render_mode="rgb_array")
env.reset(seed=0)
first = env.render()
for _ in range(10):
    env.step(env.action_space.high)
second = env.render()
seen = env.step(env.action_space.high)[0]
unseen = gymnasium.make(sys.argv[1])
unseen.reset(seed=0)
for _ in range(11):
    last = unseen.step(unseen.action_space.high)[0]
assert (seen == last).all(), "looking changed the world"
assert first.shape == second.shape and first.shape[2] == 3, first.shape
assert first.std() > 10, "nothing to be seen"
assert (first != second).any(), "nothing moved"
env.close()
"""


@pytest.mark.parametrize(
    "name",
    ["PandaReachDense", "PandaPushDense", "PandaGymReachDense", "PaperPandaReachDense", "HopperTarget", "AntTarget"],
)
def test_worlds_can_be_drawn_without_a_screen(name):
    if "Gym" in name or "Paper" in name:
        pytest.importorskip("panda_gym", reason="PyBullet has no wheel for this Python")
    done = subprocess.run(
        [sys.executable, "-c", DRAW, f"ompo/{name}-v0"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name not in (*_SCREENS, "MUJOCO_GL")},
        check=False,
    )
    if done.returncode and "AssertionError" not in done.stderr and ("EGL" in done.stderr or "OpenGL" in done.stderr):
        pytest.skip("this machine has no EGL (Debian and Ubuntu: libegl1 libgl1-mesa-dri)")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("environment", [{"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}, {"MUJOCO_GL": "osmesa"}])
def test_a_screen_and_a_users_choice_are_left_alone(environment):
    chosen = dict(environment)
    choose_renderer(chosen)
    assert chosen == environment
