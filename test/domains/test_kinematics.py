import mujoco
import numpy as np
import pytest

from ompo_ros.domains.kinematics import HOME, JOINT_HIGH, JOINT_LOW, JOINT_NAMES, JOINT_TORQUE, end_effector_position
from ompo_ros.resources import resource_path


def random_postures(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(JOINT_LOW, JOINT_HIGH, (count, 7))


def test_agrees_with_panda_gyms_panda_to_a_millimetre():
    panda_gym_envs = pytest.importorskip("panda_gym.envs", reason="PyBullet has no wheel for this Python")
    env = panda_gym_envs.PandaReachEnv()
    client, body = env.sim.physics_client, env.sim._bodies_idx["panda"]
    postures = random_postures(10_000)
    positions = np.empty((len(postures), 3))
    for row, q in enumerate(postures):
        for joint in range(7):
            client.resetJointState(body, joint, q[joint])
        positions[row] = client.getLinkState(body, 11, computeForwardKinematics=True)[0]
    env.close()
    in_base_frame = positions - [-0.6, 0.0, 0.0]
    assert np.abs(end_effector_position(postures) - in_base_frame).max() < 1e-3


def test_agrees_with_our_own_model():
    model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/reach.xml")))
    data = mujoco.MjData(model)
    for q in random_postures(500):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(end_effector_position(q), data.site("end_effector").xpos, atol=1e-9)


def test_the_model_has_the_published_limits():
    model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/reach.xml")))
    for i, name in enumerate(JOINT_NAMES):
        assert model.joint(name).range == pytest.approx((JOINT_LOW[i], JOINT_HIGH[i]))
        assert model.actuator(name).ctrlrange == pytest.approx((JOINT_LOW[i], JOINT_HIGH[i]))
        assert model.actuator(name).forcerange == pytest.approx((-JOINT_TORQUE[i], JOINT_TORQUE[i]))


def test_a_row_does_not_depend_on_its_neighbours():
    postures = random_postures(257)
    together = end_effector_position(postures)
    alone = np.array([end_effector_position(q) for q in postures])
    assert np.array_equal(together, alone)


def test_home_hangs_over_the_table():
    np.testing.assert_allclose(end_effector_position(HOME), [0.638, 0.0, 0.197], atol=1e-3)
