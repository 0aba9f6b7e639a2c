import gymnasium
import numpy as np
import pytest

from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.drift import Jumps, Noise, Schedule, Sine
from ompo_ros.sim.panda import PandaEnv, PandaVectorEnv
from ompo_ros.sim.parameters import COLUMN_NAMES, COLUMNS
from ompo_ros.task.kinematics import HOME
from ompo_ros.task.tasks import EPISODE_STEPS, INCREMENT

STEPS = 120  # more than two episodes


def random_actions(n, steps=STEPS):
    return np.random.default_rng(1).uniform(-1.0, 1.0, (steps, n, 7)).astype(np.float32)


def single_trajectory(env, seed, actions):
    rows = [env.reset(seed=seed)[0]]
    for action in actions:
        obs, reward, _, truncated, info = env.step(action)
        rows.append(np.concatenate((obs, [reward, info["is_success"]])).astype(np.float32))
        if truncated:
            rows.append(env.reset()[0])
    return rows


def batched_trajectories(env, seed, actions):
    rows = [[obs] for obs in env.reset(seed=seed)[0]]
    for action in actions:
        obs, reward, _, truncated, info = env.step(action)
        for arm in range(env.num_envs):
            arrived = [*info["final_obs"][arm], reward[arm], info["is_success"][arm]]
            rows[arm].append(np.array(arrived, dtype=np.float32))
            if truncated[arm]:
                rows[arm].append(obs[arm])
    return rows


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("domain", ["randomized", "hidden", "drifting"])
@pytest.mark.parametrize("task", ["reach", "push"])
def test_a_batched_arm_equals_a_single_one_bit_for_bit(task, domain):
    actions = random_actions(5)
    batch = PandaVectorEnv(5, task, "dense", domain, threads=2)
    together = batched_trajectories(batch, 7, actions)
    assert_same(batched_trajectories(batch, 7, actions)[3], together[3])
    batch.close()
    single = PandaEnv(task, "dense", domain)
    for arm in (0, 4):
        assert_same(single_trajectory(single, 7 + arm, actions[:, arm]), together[arm])


def test_seeds_make_the_difference():
    env = PandaEnv(domain="randomized")
    actions = random_actions(1, 10)[:, 0]
    first, again, other = (single_trajectory(env, seed, actions) for seed in (1, 1, 2))
    assert_same(first, again)
    assert first[5].tobytes() != other[5].tobytes()


def test_episodes_of_one_seed_differ():
    env = PandaEnv(domain="randomized")
    (one, first), (two, second) = env.reset(seed=0), env.reset()
    assert not np.array_equal(one, two)
    assert first["domain"] != second["domain"]


def test_every_sampled_value_comes_with_the_transition():
    env = PandaVectorEnv(3, "reach", "dense", "randomized")
    _, info = env.reset(seed=0)
    before = info["domain"]
    for _ in range(EPISODE_STEPS):
        *_, info = env.step(np.zeros((3, 7), dtype=np.float32))
        np.testing.assert_array_equal(info["domain"], before)
        np.testing.assert_array_equal(info["domain_id"], [0, 1, 2])
    *_, info = env.step(np.zeros((3, 7), dtype=np.float32))
    assert info["domain"].shape == (3, len(COLUMN_NAMES))
    np.testing.assert_array_equal(info["domain_id"], [3, 4, 5])
    assert (info["domain"][:, COLUMNS["payload_mass"]] != before[:, COLUMNS["payload_mass"]]).all()


def test_an_ended_episode_keeps_its_last_observation_and_starts_anew():
    env = PandaVectorEnv(2, "reach", "dense", "nominal")
    env.reset(seed=0)
    for step in range(1, EPISODE_STEPS + 1):
        obs, _, terminated, truncated, info = env.step(np.ones((2, 7), dtype=np.float32))
        assert not terminated.any()
        assert truncated.all() == (step == EPISODE_STEPS)
    np.testing.assert_allclose(obs[:, :7], np.tile(HOME, (2, 1)), atol=1e-6)
    assert np.abs(info["final_obs"][:, 0] - HOME[0]).min() > 0.5
    assert info["_final_obs"].all()


def test_resetting_one_arm_leaves_the_others_alone():
    env = PandaVectorEnv(3, "push", "dense", "randomized")
    env.reset(seed=0)
    env.step(random_actions(3, 1)[0])
    world = env.world
    before = [part.copy() for part in (world.values.table, world.goal, world.plant.q, world.episode, world.step_index)]
    world.reset(np.array([1]))
    after = [world.values.table, world.goal, world.plant.q, world.episode, world.step_index]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old[[0, 2]], new[[0, 2]])
        assert not np.array_equal(old[1], new[1])


def test_gymnasium_makes_the_batch():
    env = gymnasium.make_vec(
        "ompo/PandaPushSparse-v0", num_envs=4, vectorization_mode="vector_entry_point", domain="randomized"
    )
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space
    obs, reward, *_ = env.step(env.action_space.sample())
    assert obs in env.observation_space
    assert set(reward) <= {0.0, -1.0}
    env.close()


def test_a_constant_action_reaches_upwards():
    """Actions mean what the contract says: joint 2 back and joint 4 out lift the hand."""
    env = PandaEnv()
    start, _ = env.reset(seed=0)
    for _ in range(20):
        obs, *_ = env.step(np.array([0, -1, 0, 0, 0, 0, 0], dtype=np.float32))
    assert obs[1] < start[1] - 10 * INCREMENT * 0.4
    assert obs[16] > start[16] + 0.1


@pytest.mark.parametrize("action", [np.full(7, np.nan), np.full(7, np.inf), np.zeros(6), np.zeros((2, 7))])
def test_unusable_actions_are_refused(action):
    env = PandaEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="finite numbers of shape"):
        env.step(action.astype(np.float32))


def test_actions_beyond_the_limit_count_as_the_limit():
    ends = []
    for size in (1.0, 50.0):
        env = PandaEnv()
        env.reset(seed=0)
        ends.append(env.step(np.full(7, size, dtype=np.float32))[0])
    np.testing.assert_array_equal(*ends)


def test_gain_and_bias_act_on_the_action(fixed_domain):
    def after(action, **values):
        env = PandaEnv(domain=fixed_domain(**values))
        env.reset(seed=0)
        return env.step(np.full(7, action, dtype=np.float32))[0]

    np.testing.assert_allclose(after(0.5, action_gain=0.5), after(0.25), atol=1e-7)
    np.testing.assert_allclose(after(0.0, action_bias=0.25), after(0.25), atol=1e-7)
    assert not np.allclose(after(0.25, action_noise=0.2), after(0.25), atol=1e-5)


def test_the_papers_disturbance_is_its_bias_and_noise():
    """Read the disturbance off the commands: action + 0.05 + U(0, 0.01)."""
    env = PandaVectorEnv(200, "reach", "dense", "paper")
    env.reset(seed=0)
    env.world.command(np.zeros((200, 7), dtype=np.float32))
    disturbance = (env.world._targets - HOME) / INCREMENT
    assert disturbance.min() > 0.05 - 1e-9
    assert disturbance.max() < 0.06 + 1e-9
    assert disturbance.min() < 0.0502
    assert disturbance.max() > 0.0598


def test_sensor_noise_has_its_size_and_leaves_the_arm_alone(fixed_domain):
    env = PandaVectorEnv(400, "reach", "dense", fixed_domain(joint_position_noise=0.01, joint_velocity_noise=0.1))
    obs, _ = env.reset(seed=0)
    assert (obs[:, :7] - HOME).std() == pytest.approx(0.01, rel=0.1)
    assert obs[:, 7:14].std() == pytest.approx(0.1, rel=0.1)
    assert (env.world.plant.q == HOME).all()


def test_the_start_posture_spreads(fixed_domain):
    env = PandaVectorEnv(300, "reach", "dense", fixed_domain(initial_posture_spread=0.2))
    obs, _ = env.reset(seed=0)
    offset = obs[:, :7] - HOME
    assert np.abs(offset).max() <= 0.2 + 1e-6
    assert np.abs(offset).max(axis=0).min() > 0.18


def test_drift_over_episodes_and_over_steps():
    domain = Domain(
        "test",
        drift={
            "payload_mass": Schedule(Sine(1.0, 0.5, 0.3)),
            "gravity": Schedule(Jumps((10.0,), (9.0, 11.0)), "steps"),
            "action_bias": Schedule(Sine(0.0, 0.0, 0.0), "episodes", Noise(-0.1, 0.1, "steps")),
        },
    )
    env = PandaEnv(domain=domain)
    for episode in range(3):
        _, info = env.reset(seed=0) if episode == 0 else env.reset()
        biases = set()
        for step in range(20):
            *_, info = env.step(np.zeros(7, dtype=np.float32))
            assert info["domain"]["payload_mass"] == pytest.approx(1.0 + 0.5 * np.sin(0.3 * episode))
            assert info["domain"]["gravity"] == (9.0 if step < 10 else 11.0)
            assert env.world.plant.models[0].opt.gravity[2] == -info["domain"]["gravity"]
            biases.add(info["domain"]["action_bias"][0])
        assert len(biases) == 20
        assert max(biases) <= 0.1


def test_an_unseeded_environment_works():
    env = PandaVectorEnv(2, "reach", "dense", load_domain("randomized"))
    assert np.isfinite(env.reset()[0]).all()
