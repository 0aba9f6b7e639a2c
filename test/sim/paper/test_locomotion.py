import gymnasium
import mujoco
import numpy as np
import pytest

import ompo_ros.sim  # noqa: F401 - registers the worlds
from ompo_ros.sim.paper.locomotion import AIR_DENSITY, SHIFTS
from ompo_ros.sim.registration import LOCOMOTION

NAMES = [(robot, shift) for robot, shifts in LOCOMOTION.items() for shift in shifts]


def make(robot, shift):
    return gymnasium.make(f"ompo/{robot}{shift}-v0").unwrapped


def rolled(env, seed, steps=20):
    rows = [env.reset(seed=seed)[0]]
    generator = np.random.default_rng(0)
    for _ in range(steps):
        rows.append(env.step(generator.uniform(-0.4, 0.4, env.action_space.shape))[0])
    return np.array(rows)


def test_registered_names_are_those_of_the_tables():
    assert {robot: tuple(shifts) for robot, shifts in SHIFTS.items()} == LOCOMOTION


@pytest.mark.parametrize("robot", LOCOMOTION)
def test_the_source_is_gymnasiums_own_robot(robot):
    ours = rolled(make(robot, "Source"), 3)
    theirs = rolled(gymnasium.make(f"{robot}-v5").unwrapped, 3)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("robot", "shift"), NAMES)
def test_same_seed_same_trajectory(robot, shift):
    env = make(robot, shift)
    first = rolled(env, 1)
    env.reset()
    np.testing.assert_array_equal(rolled(env, 1), first)


@pytest.mark.parametrize(
    ("robot", "torso", "foot"), [("Hopper", 0.4, 0.39), ("Walker2d", 0.4, 0.2), ("Hopper", 0.2, 0.195)]
)
def test_lengths_are_the_papers(robot, torso, foot):
    env = make(robot, "Target" if torso == 0.4 else "Source")
    env.reset(seed=0)
    assert env.model.geom("torso_geom").size[1] == pytest.approx(torso)
    assert env.model.geom("foot_geom").size[1] == pytest.approx(foot)


@pytest.mark.parametrize("robot", ["Hopper", "Walker2d"])
def test_a_longer_body_is_rebuilt_whole(robot):
    plain, shifted = make(robot, "Source"), make(robot, "Target")
    models = []
    for env in (plain, shifted):
        env.reset(seed=0)
        data = mujoco.MjData(env.model)
        mujoco.mj_forward(env.model, data)
        models.append((env.model, data))
    (before, at_first), (after, now) = models
    for geom in ("torso_geom", "foot_geom"):  # a capsule's mass: density x (cylinder + ball)
        radius, half = after.geom(geom).size[:2]
        volume = np.pi * radius**2 * 2 * half + 4 / 3 * np.pi * radius**3
        body = after.geom(geom).bodyid[0]
        assert after.body_mass[body] == pytest.approx(1000.0 * volume, rel=1e-6)
    assert lowest(after, now) == pytest.approx(lowest(before, at_first), abs=1e-9)
    assert lowest(before, at_first) > 0
    for name in ("thigh", "leg", "foot"):  # hip, knee and ankle stand where they stood
        np.testing.assert_allclose(
            now.joint(f"{name}_joint").xanchor, at_first.joint(f"{name}_joint").xanchor, atol=1e-9
        )
    heel_before, heel_after = heel(before, at_first), heel(after, now)
    assert heel_after == pytest.approx(2.0 * heel_before, abs=1e-9)
    assert shifted.data.qpos[1] == pytest.approx(1.45, abs=0.01)


def lowest(model, data):
    feet = [i for i in range(model.ngeom) if "foot" in model.geom(i).name]
    return min(data.geom_xpos[i][2] - model.geom_size[i][0] for i in feet)


def heel(model, data):
    """How far the foot reaches back behind its ankle."""
    ankle = data.joint("foot_joint").xanchor[0]
    foot = model.geom("foot_geom")
    return ankle - (data.geom("foot_geom").xpos[0] - foot.size[1])


@pytest.mark.parametrize("robot", ["Ant", "Humanoid"])
def test_gravity_and_headwind(robot):
    env = make(robot, "Target")
    env.reset(seed=0)
    assert env.model.opt.gravity[2] == -19.62
    np.testing.assert_array_equal(env.model.opt.wind, [-1.0, 0.0, 0.0])
    assert env.model.opt.density == AIR_DENSITY
    assert make(robot, "Source").model.opt.density == 0.0


def test_the_wind_blows_backwards():
    def drag(wind):
        env = make("Ant", "Target")
        env.reset(seed=0)
        env.model.opt.wind[0] = -wind
        mujoco.mj_forward(env.model, env.data)
        return env.data.qfrc_passive[0]

    assert drag(5.0) < drag(1.0) < 0


@pytest.mark.parametrize("robot", LOCOMOTION)
def test_randomized_sources_draw_within_the_papers_ranges(robot):
    env = make(robot, "Randomized")
    draws = [env.reset(seed=0)[1]["domain"]] + [env.reset()[1]["domain"] for _ in range(30)]
    for name, distribution in SHIFTS[robot]["Randomized"].items():
        values = [draw[name] for draw in draws]
        low, high = distribution.support
        assert low <= min(values) < low + 0.25 * (high - low)
        assert high >= max(values) > high - 0.25 * (high - low)


def test_structure_drifts_over_episodes():
    env = make("Hopper", "NonStationary")
    for episode in range(4):
        _, info = env.reset(seed=0) if episode == 0 else env.reset()
        expected = 0.4 + 0.1 * np.sin(0.2 * episode)
        assert info["domain"]["torso_length"] == pytest.approx(expected)
        assert env.model.geom("torso_geom").size[1] == pytest.approx(expected)


@pytest.mark.parametrize("robot", ["Ant", "Humanoid"])
def test_mechanics_drift_over_steps(robot):
    env = make(robot, "SevereNonStationary")
    env.reset(seed=0)
    env.reset()
    gravities = []
    for _ in range(30):
        *_, info = env.step(np.zeros(env.action_space.shape))
        gravities.append(info["domain"]["gravity"])
        assert env.model.opt.gravity[2] == -gravities[-1]
    middle = 17.1675 + 12.2625 * np.sin(0.5)
    assert len(set(gravities)) == 30
    assert np.abs(np.array(gravities) - middle).max() <= 3.0
    assert np.ptp(gravities) > 3.0


def test_an_unknown_shift_says_which_there_are():
    with pytest.raises(ValueError, match="NonStationary"):
        gymnasium.make("ompo/HopperSource-v0", shift="Sideways")
