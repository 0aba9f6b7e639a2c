"""Recordings as a run leaves them, made without ROS."""

import numpy as np

from ompo_ros.recording import RecordingWriter, SizeLimits
from ompo_ros.recording.batches import KIND, Batch, batch_to_bytes
from ompo_ros.recording.cdr import CdrWriter
from ompo_ros.recording.extract import JOINT_STATE
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions

CONTRACT = Task("reach", "dense").on(load_robot("panda"))
ROOMY = SizeLimits(keep_free=0)
SECOND = 10**9


def episode(origin: Origin = Origin.TARGET, n: int = 50, seed: int = 0) -> Transitions:
    """One whole episode."""
    rng = np.random.default_rng(seed)
    states = rng.normal(0.0, 0.5, (n + 1, 20)).astype(np.float32)
    return Transitions(
        origin=origin,
        obs=states[:-1],
        action=rng.uniform(-1, 1, (n, 7)).astype(np.float32),
        reward=-rng.random(n, dtype=np.float32),
        next_obs=states[1:],
        terminated=np.zeros(n, np.bool_),
        truncated=np.arange(n) == n - 1,
        step=np.arange(n, dtype=np.uint32),
        policy_version=np.full(n, 3, np.uint32),
        domain_id=np.full(n, seed, np.uint32),
        command=None if origin is Origin.SOURCE else rng.normal(0.0, 0.5, (n, 7)).astype(np.float32),
    )


def joint_state(stamp: int, position) -> bytes:
    """A sensor_msgs/JointState of the panda, serialized."""
    writer = CdrWriter()
    writer.stamp(stamp)
    writer.text("")
    writer.number("I", 7)
    for name in CONTRACT.joint_names:
        writer.text(name)
    for values in (position, np.zeros(7), np.empty(0)):
        writer.array(np.asarray(values, np.float64))
    return writer.finished()


def writer_in(
    folder, *, run_id="run-a", contract=CONTRACT, limits=ROOMY, warnings=None, commands=None
) -> RecordingWriter:
    """A writer of a run's files; recorders of earlier versions did not name the topic of commands."""
    about = {"run_id": run_id, "contract": contract.to_json()} | ({"command_topic": commands} if commands else {})
    return RecordingWriter(folder, about, limits, [].append if warnings is None else warnings.append)


def add_episode(writer, number, *, origin=Origin.TARGET, run_id="run-a", second=None) -> None:
    """A batch, and the joint states of its time."""
    begin = (number if second is None else second) * SECOND
    topic = f"/ompo/{origin.name.lower()}"
    batch = Batch(begin, run_id, f"{topic}_collector", 7, number, episode(origin, seed=number))
    writer.write(f"{topic}/transitions", KIND, batch_to_bytes(batch), begin, begin)
    for i in range(10):
        stamp = begin + i * SECOND // 10
        writer.write("/ompo/joint_states", JOINT_STATE, joint_state(stamp, np.full(7, i)), stamp, stamp)


def record(folder, episodes=12, **options):
    """A finished file with an episode a second; its path."""
    writer = writer_in(folder, **options)
    path = writer.path
    for number in range(episodes):
        add_episode(writer, number, run_id=options.get("run_id", "run-a"))
        writer.flush()
    writer.close()
    return path


def evaluated_run(folder, evaluations, explored, steps=50, commands=None):
    """A run that evaluates policies (version: goals) and explores for some episodes between; its folder.

    With a topic of `commands`, its driver takes joint states, as CRISP does.
    """
    from geometry_msgs.msg import Point, PointStamped  # as ROS serializes them
    from ompo_msgs.msg import EpisodeSummary
    from rclpy.serialization import serialize_message

    writer = writer_in(folder / "recordings", commands=commands)
    home, now = load_robot("panda").home, SECOND

    def play(version: int, goal, deterministic: bool) -> None:
        nonlocal now
        place = serialize_message(PointStamped(point=Point(x=goal[0], y=goal[1], z=goal[2])))
        writer.write("/ompo/target/goal", "geometry_msgs/msg/PointStamped", place, now, now)
        for i in range(4 * steps + 1):
            now += SECOND // 100
            state = joint_state(now, home + 0.4 * i / (4 * steps))
            writer.write("/ompo/joint_states", JOINT_STATE, state, now, now)
            if commands:
                writer.write(commands, JOINT_STATE, joint_state(now, home - 0.4), now, now)
        summary = EpisodeSummary(
            run_id="run-a",
            collector_id="/ompo/target_collector",
            origin=EpisodeSummary.TARGET,
            outcome=EpisodeSummary.TRUNCATED,
            steps=steps,
            deterministic=deterministic,
            policy_version=version,
        )
        data = serialize_message(summary)
        writer.write("/ompo/target/episodes", "ompo_msgs/msg/EpisodeSummary", data, now, now)
        writer.flush()

    for number, (version, goals) in enumerate(evaluations.items()):
        for _ in range(explored if number else 0):
            play(version - 1, (0.3, 0.0, 0.4), False)
            batch = Batch(now, "run-a", "/ompo/target_collector", 7, number, episode())
            writer.write("/ompo/target/transitions", KIND, batch_to_bytes(batch), now, now)
        for goal in goals:
            play(version, goal, True)
    writer.close()
    return folder
