"""The parameters of all nodes except the learner; `ros2 param` and docs/parameters.md show them."""

from __future__ import annotations

from dataclasses import dataclass

from ompo_ros.control.cube_place import REST_TIME
from ompo_ros.fci.collision import THRESHOLDS
from ompo_ros.parameters import parameter
from ompo_ros.task.tasks import REWARDS, TASKS

_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class RunParameters:
    """Of a node that belongs to a run."""

    run_id: str = parameter("", "Run the node belongs to. It refuses messages and calls of other runs. Empty: no run.")


@dataclass(frozen=True)
class TaskParameters:
    """The task of the arm."""

    task: str = parameter("reach", "The task of the arm.", choices=TASKS)
    reward: str = parameter("dense", "The form of the task's reward.", choices=REWARDS)


@dataclass(frozen=True)
class RobotParameters:
    """The robot preset."""

    robot: str = parameter("panda", "Robot preset: name of a file in config/robots, or a path.")


@dataclass(frozen=True)
class DriverParameters(RobotParameters):
    """Topics of the arm's driver."""

    driver: str = parameter("", "Which of the preset's drivers to use. Empty: the preset's default.")
    robot_namespace: str = parameter("", "Namespace of the robot's topics; / for none. Empty: the node's own.")


@dataclass(frozen=True)
class SeedParameters:
    """The seed."""

    seed: int = parameter(0, "Seed of everything random in the node.", high=_LARGEST_SEED)


@dataclass(frozen=True)
class StepParameters:
    """The length of a run."""

    target_steps: int = parameter(0, "Target transitions after which the run ends; 0: never.", high=1e9)


@dataclass(frozen=True)
class ArmParameters(RunParameters, TaskParameters, DriverParameters):
    """Of a node that moves an arm."""

    dry_run: bool = parameter(False, "Do everything except command the robot and feed the learner.")
    speed_scale: float = parameter(1.0, "Share of the preset's velocity limits to use.", low=0.01, high=1.0)
    cube_rest_time: float = parameter(
        REST_TIME, "Seconds that a cube lies still, after somebody may have held it, until the arm moves.", high=60.0
    )
    lockstep: bool = parameter(False, "Act on each joint state at once, for robot_sim in lockstep.")
    enabled: bool = parameter(False, "Move at once instead of waiting for `ompo enable`.")


@dataclass(frozen=True)
class TargetCollectorParameters(ArmParameters, SeedParameters, StepParameters):
    """Of target_collector."""

    scripted_episodes: int = parameter(
        0, "Episodes that the task's script plays first, as demonstrations. Only push has a script.", high=1e6
    )


@dataclass(frozen=True)
class PolicyControllerParameters(ArmParameters):
    """Of policy_controller."""

    policy: str = parameter("", "ONNX file to run. Empty: policy/stable of the policy server.")
    goal: tuple[float, ...] = parameter((), "Goal until one arrives: x y z in the base frame, m. Unset: the centre.")
    blend_time: float = parameter(0.2, "Seconds in which a new policy takes over.", high=5.0)


@dataclass(frozen=True)
class RobotSimParameters(DriverParameters, SeedParameters):
    """Of robot_sim."""

    task: str = parameter("reach", "The task; push adds a cube on the table.", choices=TASKS)
    simulator: str = parameter("mujoco", "Physics engine.", choices=("panda_gym", "mujoco"))
    domain: str = parameter("hidden", "Dynamics of the arm: name of a file in config/domains, or a path.")
    publish_rate: float = parameter(100.0, "Joint states per simulated second.", low=1.0, high=1000.0)
    real_time_factor: float = parameter(1.0, "Simulated seconds per second; 0: lockstep with commands.", high=1e3)
    command_timeout: float = parameter(
        0.5, "Simulated seconds without a command until the arm holds.", low=0.01, high=60.0
    )


@dataclass(frozen=True)
class FciDriverParameters(DriverParameters):
    """Of fci_driver."""

    robot: str = parameter("fr3", "Robot preset: name of a file in config/robots, or a path.")
    robot_ip: str = parameter("", "Address of the robot's control, as in Desk's address bar. It must be given.")
    connect_timeout: float = parameter(5.0, "Seconds to wait for the robot at the start.", low=0.1, high=3600.0)
    state_rate: float = parameter(100.0, "Joint states per second.", low=10.0, high=1000.0)
    cutoff_frequency: float = parameter(
        50.0, "Hz of the low-pass filter of published velocities and efforts; 0: none.", high=1000.0
    )
    joint_impedance: tuple[float, ...] = parameter(
        (3000.0, 3000.0, 3000.0, 2500.0, 2500.0, 2000.0, 2000.0), "Stiffness of the robot's joints, N m/rad."
    )
    collision_torque: tuple[float, ...] = parameter(
        THRESHOLDS["reach"].torque,
        "External torque of each joint that causes a reflex, N m. A launch of push sets its own.",
    )
    collision_force: tuple[float, ...] = parameter(
        THRESHOLDS["reach"].force,
        "External force (x y z, N) and torque (N m) at the hand that cause a reflex. A launch of push sets its own.",
    )
    load_mass: float = parameter(0.0, "Mass of what the hand carries, kg; 0: as set in Desk.", high=10.0)
    load_centre: tuple[float, ...] = parameter((0.0,) * 3, "Its centre of mass from the flange, m.")
    load_inertia: tuple[float, ...] = parameter((0.0,) * 9, "Its inertia about that centre, 3 x 3 by columns, kg m^2.")


@dataclass(frozen=True)
class FrankaSimParameters(SeedParameters):
    """Of franka_sim."""

    robot: str = parameter("fr3", "Robot preset: name of a file in config/robots, or a path.")
    robot_ip: str = parameter("127.0.0.1", "Address to listen on, of this machine only.")
    domain: str = parameter("nominal", "Dynamics of the arm: name of a file in config/domains, or a path.")
    enforce_communication: bool = parameter(
        False, "Stop after 20 late commands in a row, as the robot does; on a machine without real time it will."
    )


@dataclass(frozen=True)
class SourceCollectorParameters(RunParameters, TaskParameters, RobotParameters, SeedParameters):
    """Of source_collector."""

    domain: str = parameter("randomized", "Dynamics to draw from: name of a file in config/domains, or a path.")
    arms: int = parameter(16, "Arms simulated at once.", low=1, high=4096)
    threads: int = parameter(1, "Threads of the simulator.", low=1, high=256)
    batch_steps: int = parameter(16, "Steps of every arm in one message.", low=1, high=1000)
    index: int = parameter(0, "Number of this collector, from 0; it changes the seed.", high=255)
    num_sources: int = parameter(1, "Collectors that share the source's budget.", low=1, high=256)
    belief: bool = parameter(True, "Draw from the identifier's estimate of the arm, as soon as there is one.")
    limits: bool = parameter(True, "Keep commands within the limits of the robot's safety filter, as the target does.")


@dataclass(frozen=True)
class IdentifierParameters(RunParameters, TaskParameters, RobotParameters, SeedParameters):
    """Of identifier."""

    run_dir: str = parameter("runs/adapt", "Folder of the run, where belief.yaml and belief.npz are kept.")
    domain: str = parameter("randomized", "Domain to start from, the sources': a name or a path.")
    share: float = parameter(0.5, "Largest share of a core to use.", low=0.05, high=1.0)
    warm_start: str = parameter("", "Recordings of this arm to begin with: files or folders, separated by commas.")
    half_life: int = parameter(
        0, "Target steps after which evidence has half its weight, for arms that change; 0: never.", high=1e9
    )


@dataclass(frozen=True)
class GateParameters:
    """The gate between latest and stable policies."""

    gate: bool = parameter(True, "Make evaluated policies stable automatically.")
    evaluation_episodes: int = parameter(20, "Episodes of an evaluation.", low=1, high=500)
    evaluation_period: float = parameter(60.0, "Seconds from the end of one evaluation to the next.", high=86_400.0)
    margin: float = parameter(0.1, "Largest drop in success rate a new policy may have and still pass.", high=1.0)
    confidence: float = parameter(0.8, "Required probability that a policy is within the margin.", low=0.5, high=1.0)
    min_success: float = parameter(0.5, "Required success rate of the first stable policy.", high=1.0)


@dataclass(frozen=True)
class PolicyServerParameters(RunParameters, TaskParameters, RobotParameters, GateParameters):
    """Of policy_server."""

    registry_dir: str = parameter("~/.ros/ompo/policies", "Folder of the policies; created if missing.")
    keep: int = parameter(20, "Newest policies kept, besides those in use.", low=1, high=10_000)


@dataclass(frozen=True)
class RunManagerParameters(RunParameters, StepParameters):
    """Of run_manager."""

    run_dir: str = parameter("runs/adapt", "Folder of the run's record and report.")
    episodes_before: int = parameter(20, "Episodes evaluated before the run; 0: none.", high=100_000)
    episodes_after: int = parameter(100, "Episodes evaluated after the run; 0: none.", high=100_000)
    progress_period: float = parameter(5.0, "Seconds between two lines of progress.", low=0.5, high=3600.0)
    settings: str = parameter("{}", "The run's launch arguments as JSON, for its report and its resumption.")


@dataclass(frozen=True)
class RecorderParameters(RunParameters, TaskParameters, DriverParameters):
    """Of recorder."""

    run_dir: str = parameter("runs/adapt", "Folder of the run; its recordings go to recordings/ there.")
    split_size: int = parameter(256, "Megabytes after which the next file begins.", low=1, high=1e6)
    max_size: int = parameter(
        10_000, "Megabytes of all recordings in the folder; then the oldest file is deleted.", low=2, high=1e9
    )
    keep_free: int = parameter(2_000, "Megabytes that stay free on the disk; below, nothing is recorded.", high=1e9)


@dataclass(frozen=True)
class MonitorParameters(RunParameters, TaskParameters, DriverParameters, StepParameters):
    """Of monitor."""

    host: str = parameter("127.0.0.1", "Address the page listens on. Beyond this machine it asks for a token.")
    port: int = parameter(8200, "Port of the page, or the next free one; 0: any.", high=65_535)
    target_domain: str = parameter(
        "", "Domain of the stand-in, shown as the truth beside what was identified; empty for a real arm."
    )
    rate: float = parameter(20.0, "Pictures per second of the arm, while somebody watches.", low=1.0, high=60.0)


@dataclass(frozen=True)
class TransitionMonitorParameters:
    """Of transition_monitor."""

    period: float = parameter(2.0, "Seconds between two reports.", low=0.1, high=3600.0)
