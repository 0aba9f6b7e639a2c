import subprocess
import sys
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import ompo_ros.sim  # noqa: F401 - registers the worlds
from ompo_ros.sim.registration import NAMESPACE, register_all

WORLDS = sorted(name for name in gymnasium.registry if name.startswith(f"{NAMESPACE}/"))


@pytest.mark.parametrize("name", WORLDS)
def test_gymnasiums_checker_passes(name):
    if "PandaGym" in name or "PaperPanda" in name:
        pytest.importorskip("panda_gym", reason="PyBullet has no wheel for this Python")
    if "MetaWorld" in name:
        pytest.importorskip("metaworld", reason="the metaworld extra is not installed")
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Box (observation|action) space.*")
        warnings.filterwarnings("error", message=".*(not equal|deterministic).*")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_what_the_package_promises_is_there():
    expected = {
        f"ompo/Panda{sim}{task}{reward}-v0"
        for sim in ("", "Gym")
        for task in ("Reach", "Push")
        for reward in ("Dense", "Sparse")
    }
    expected |= {f"ompo/PaperPandaReach{reward}-v0" for reward in ("Dense", "Sparse")}
    assert expected <= set(WORLDS)
    assert len(WORLDS) == 8 + 2 + 18 + 8


def test_registering_twice_is_harmless():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_all()


def test_the_worlds_need_neither_ros_nor_torch():
    code = (
        "import sys\n"
        "for name in ('torch', 'rclpy', 'panda_gym', 'pybullet'): sys.modules[name] = None\n"
        "import gymnasium, ompo_ros.sim\n"
        "gymnasium.make('ompo/PandaReachDense-v0', domain='randomized').reset(seed=0)\n"
        "gymnasium.make('ompo/AntTarget-v0').reset(seed=0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
