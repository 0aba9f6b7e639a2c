"""What the arm must do if its model is right, from laws rather than from recorded numbers."""

import mujoco
import numpy as np
import pytest

from ompo_ros.sim.domain import Simulator
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.sim.panda import PandaEnv
from ompo_ros.sim.parameters import DomainValues
from ompo_ros.task.kinematics import HOME, JOINT_HIGH, JOINT_LOW, JOINT_TORQUE, end_effector_position
from ompo_ros.task.tasks import Task

ARM = np.array([0])
CUBE = np.array([[0.6, 0.0, 0.02]])


def arm_with(task="reach", posture=HOME, simulator=None, **values):
    arm = MujocoArms(Task(task, "dense"), 1, simulator or Simulator())
    table = DomainValues(1)
    for name, value in values.items():
        table[name][:] = value
    arm.apply(ARM, table)
    arm.reset(ARM, posture[None], CUBE)
    return arm


def simulation(arm):
    """Give MuJoCo's own model and data of the arm in its present state, to look inside."""
    model = arm.models[0]
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, arm.state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    mujoco.mj_forward(model, data)
    return model, data


def hold(arm, posture, seconds):
    arm.advance(posture[None], round(seconds / arm.timestep))
    return arm.q[0]


def lifting_arms(q):
    """How much each joint lifts the end effector: dz/dq, by central differences of the forward kinematics."""
    steps = 1e-6 * np.eye(7)
    return (end_effector_position(q + steps)[:, 2] - end_effector_position(q - steps)[:, 2]) / 2e-6


def swinging(damping):
    """Let the links swing: no motors, no compensation, no limits, no table."""
    arm = arm_with(posture=np.array([0.3, -0.2, 0.1, -1.0, 0.4, 1.0, 0.2]), simulator=Simulator(0.0005, "rk4"))
    model, data = simulation(arm)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    model.body_gravcomp[:] = 0.0
    model.dof_damping[:] = damping
    energies = []
    for _ in range(200):
        mujoco.mj_step(model, data, 10)
        mujoco.mj_forward(model, data)
        energies.append(data.energy.sum())
    kinetic = data.energy[1]
    return np.array(energies), kinetic


def test_a_frictionless_arm_keeps_its_energy():
    energies, kinetic = swinging(damping=0.0)
    assert kinetic > 1.0
    assert np.ptp(energies) < 1e-3 * kinetic


def test_a_damped_arm_only_loses_energy():
    energies, _ = swinging(damping=1.0)
    assert (np.diff(energies) < 0).all()


def test_the_arm_weighs_what_it_weighs():
    model = arm_with().models[0]
    assert model.body_mass.sum() == pytest.approx(
        0.63 + 4.97 + 0.65 + 3.23 + 3.59 + 1.23 + 1.67 + 0.74 + 0.73, abs=0.02
    )


@pytest.mark.parametrize("seed", range(5))
def test_gravity_compensation_holds_still(seed):
    posture = np.random.default_rng(seed).uniform(JOINT_LOW, JOINT_HIGH)
    if end_effector_position(posture)[2] < 0.3:
        posture[[1, 3]] = -0.5, -0.8  # away from the table
    drift = np.abs(hold(arm_with(posture=posture), posture, 2.0) - posture).max()
    assert drift < 1e-6


def test_without_its_controller_the_compensated_arm_still_floats():
    arm = arm_with()
    arm.models[0].opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    assert np.abs(hold(arm, HOME, 1.0) - HOME).max() < 1e-6


@pytest.mark.parametrize("payload", [0.5, 2.0])
@pytest.mark.parametrize("stiffness", [0.3, 1.0])
def test_payload_sags_by_weight_over_stiffness(payload, stiffness):
    arm = arm_with(payload_mass=payload, stiffness_scale=stiffness)
    sagged = hold(arm, HOME, 3.0)
    gains = np.array([3000, 3000, 3000, 2500, 2500, 2000, 2000]) * stiffness
    expected = -payload * 9.81 * lifting_arms(sagged) / gains
    np.testing.assert_allclose(sagged - HOME, expected, rtol=1e-3, atol=1e-7)
    assert sagged[1] > HOME[1]


def test_compensation_knows_the_nominal_arm_only():
    """Links heavier by a fifth pull down by a fifth of the arm's own gravity torque; so does stronger gravity."""
    heavy = hold(arm_with(link_mass_scale=1.2), HOME, 3.0) - HOME
    strong = hold(arm_with(gravity=9.81 * 1.2), HOME, 3.0) - HOME
    np.testing.assert_allclose(heavy, strong, rtol=1e-6, atol=1e-9)
    torque = simulation(arm_with())[1].qfrc_bias[:7]
    gains = np.array([3000, 3000, 3000, 2500, 2500, 2000, 2000])
    np.testing.assert_allclose(heavy, -0.2 * torque / gains, rtol=0.05, atol=1e-5)


def test_limits_hold_against_full_commands(fixed_domain):
    for action in (-1.0, 1.0):
        env = PandaEnv(domain=fixed_domain(action_bias=0.5))
        env.reset(seed=0)
        for _ in range(200):
            obs, *_ = env.step(np.full(7, action, dtype=np.float32))
            assert (obs[:7] > JOINT_LOW - 0.01).all()
            assert (obs[:7] < JOINT_HIGH + 0.01).all()


def test_motors_never_exceed_their_torque():
    model, data = simulation(arm_with())
    for sign in (1.0, -1.0) * 20:
        data.ctrl[:] = HOME + sign * 0.5
        mujoco.mj_step(model, data, 20)
        assert (np.abs(data.actuator_force) <= JOINT_TORQUE + 1e-9).all()
    assert (np.abs(data.actuator_force) == JOINT_TORQUE).any()


def test_friction_stronger_than_the_load_holds_it():
    torque = 2.0 * 9.81 * abs(lifting_arms(HOME)[1])
    free = hold(arm_with(payload_mass=2.0), HOME, 1.0)[1] - HOME[1]
    stuck = hold(arm_with(payload_mass=2.0, friction_loss=torque * 1.2), HOME, 1.0)[1] - HOME[1]
    assert abs(stuck) < 0.2 * abs(free)


def test_heavier_rotors_start_slower():
    def moved(**values):
        arm = arm_with(**values)
        arm.advance((HOME + 0.005 * np.eye(7)[6])[None], 5)
        return arm.q[0, 6] - HOME[6]

    assert 0 < moved(armature_scale=5.0) < 0.6 * moved()
    assert 0 < moved(servo_damping_scale=5.0) < 0.6 * moved()
    assert 0 < moved(joint_damping_scale=50.0) < 0.9 * moved()


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_delay_of_k_steps_is_k_steps(delay, fixed_domain):
    env = PandaEnv(domain=fixed_domain(command_delay=delay))
    start, _ = env.reset(seed=0)
    moved = []
    for step in range(6):
        obs, *_ = env.step(np.full(7, 1.0 if step == 0 else 0.0, dtype=np.float32))
        moved.append(np.abs(obs[:7] - start[:7]).max() > 1e-4)
    assert moved.index(True) == delay


def test_the_table_stops_the_hand():
    down = np.array([0.0, 1.2, 0.0, -1.6, 0.0, 2.8, 0.79])
    assert end_effector_position(down)[2] < -0.1
    arm = arm_with()
    for share in np.linspace(0.0, 1.0, 50):
        arm.advance((HOME + share * (down - HOME))[None], 20)
    assert end_effector_position(arm.q[0])[2] > -0.02


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("friction", [0.2, 0.6])
def test_the_cube_slides_as_friction_says(friction, axis):
    """A cube launched at v comes to rest after v^2 / (2 mu g)."""
    arm = arm_with("push", contact_friction=friction, cube_mass=0.5)
    hold(arm, HOME, 0.2)
    start = arm.cube[0].copy()
    arm.state[0, 1 + 14 + 7 + axis] = speed = 0.5
    hold(arm, HOME, 1.5)
    slid = arm.cube[0, axis] - start[axis]
    assert slid == pytest.approx(speed**2 / (2 * friction * 9.81), rel=0.1)
    assert arm.cube[0, 2] == pytest.approx(0.02, abs=1e-3)


def test_integrators_agree_on_slow_motion():
    ends = []
    for simulator in (Simulator(), Simulator(0.001, "euler"), Simulator(0.0005, "rk4"), Simulator(0.002, "implicit")):
        ends.append(hold(arm_with(simulator=simulator), HOME + 0.02, 1.0).copy())
    np.testing.assert_allclose(ends, [HOME + 0.02] * 4, atol=1e-3)
