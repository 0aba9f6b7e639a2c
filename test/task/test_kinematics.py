import mujoco
import numpy as np
import pytest

from ompo_ros.resources import resource_path
from ompo_ros.task.kinematics import (
    HOME,
    JOINT_HIGH,
    JOINT_LOW,
    JOINT_NAMES,
    JOINT_TORQUE,
    SPHERE_NAMES,
    SPHERE_RADII,
    end_effector_position,
    hand_jacobian,
    sphere_centres,
)


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


def corners(geom):
    """The outermost points of a capsule or a box, in its own frame."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    if geom.type[0] == mujoco.mjtGeom.mjGEOM_BOX:
        return signs * geom.size
    radius, half = geom.size[:2]
    ring = [[np.cos(t), np.sin(t), 0.0] for t in np.linspace(0.0, 2 * np.pi, 12)]
    ends = [np.array([0.0, 0.0, end * half]) for end in (-1.0, 1.0)]
    return np.array([end + radius * np.array(direction) for end in ends for direction in ring])


@pytest.mark.parametrize("part", ["fingers", "hand", "wrist", "elbow"])
def test_spheres_contain_the_hand_the_wrist_and_the_elbow_of_our_own_model(part):
    model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/reach.xml")))
    data = mujoco.MjData(model)
    for q in random_postures(100):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        geom = data.geom(part)
        points = geom.xpos + corners(model.geom(part)) @ geom.xmat.reshape(3, 3).T
        distances = np.linalg.norm(points[:, None] - sphere_centres(q), axis=-1) - SPHERE_RADII
        assert distances.min(axis=1).max() < 2e-3


def test_the_end_effector_is_among_the_spheres():
    postures = random_postures(50)
    tip = SPHERE_NAMES.index("end effector")
    np.testing.assert_allclose(sphere_centres(postures)[:, tip], end_effector_position(postures), atol=1e-12)


def test_the_jacobian_is_the_derivative_of_the_hands_place_and_axis():
    q, small = random_postures(50), 1e-6
    of_point, of_axis, rotation = hand_jacobian(q)
    for joint in range(7):
        moved = q + small * np.eye(7)[joint]
        place = (end_effector_position(moved) - end_effector_position(q)) / small
        np.testing.assert_allclose(of_point[:, :, joint], place, atol=1e-5)
        turned = (hand_jacobian(moved)[2] - rotation)[:, :, 2] / small
        np.testing.assert_allclose(of_axis[:, :, joint], turned, atol=1e-5)
