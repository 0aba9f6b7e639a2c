"""Transition batches to and from serialized messages, without ROS and without a loop over the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.recording.cdr import BrokenMessage, CdrReader, CdrWriter
from ompo_ros.transitions import InvalidData, Origin, Transitions

KIND: Final = "ompo_msgs/msg/TransitionBatch"
FIELDS: Final = (
    ("builtin_interfaces/Time", "stamp"),
    ("string<=64", "run_id"),
    ("string<=256", "collector_id"),
    ("uint64", "session"),
    ("uint64", "sequence"),
    ("uint8", "origin"),
    ("uint32", "count"),
    ("uint32", "obs_dim"),
    ("uint32", "act_dim"),
    ("float32[]", "obs"),
    ("float32[]", "action"),
    ("float32[]", "reward"),
    ("float32[]", "next_obs"),
    ("uint8[]", "terminated"),
    ("uint8[]", "truncated"),
    ("uint32[]", "step"),
    ("uint32[]", "policy_version"),
    ("uint32[]", "domain_id"),
    ("float32[]", "command"),
)


@dataclass(frozen=True)
class Batch:
    """The content of one TransitionBatch."""

    stamp: int  # ns
    run_id: str
    collector_id: str
    session: int
    sequence: int
    transitions: Transitions


def batch_from_bytes(data: bytes) -> Batch:
    """Read a message and check its transitions; raises BrokenMessage or InvalidData."""
    reader = CdrReader(data)
    stamp, run_id, collector_id = reader.stamp(), reader.text(), reader.text()
    session, sequence, origin = reader.number("Q"), reader.number("Q"), reader.number("B")
    n, obs_dim, act_dim = (reader.number("I") for _ in range(3))
    if origin not in tuple(Origin):
        raise InvalidData("origin", f"is {origin}, one of {[int(known) for known in Origin]} is needed")
    obs, action, reward, next_obs = (reader.array("<f4") for _ in range(4))
    terminated, truncated = (reader.array("u1") for _ in range(2))
    step, policy_version, domain_id = (reader.array("<u4").copy() for _ in range(3))
    command = reader.array("<f4")
    sizes = (obs.size, next_obs.size, action.size, command.size or n * act_dim)
    if sizes != (n * obs_dim, n * obs_dim, n * act_dim, n * act_dim):
        raise BrokenMessage(f"its arrays do not hold {n} transitions")
    transitions = Transitions(
        origin=Origin(origin),
        obs=obs.reshape(n, obs_dim),
        action=action.reshape(n, act_dim),
        reward=reward,
        next_obs=next_obs.reshape(n, obs_dim),
        terminated=terminated.astype(np.bool_),
        truncated=truncated.astype(np.bool_),
        step=step,
        policy_version=policy_version,
        domain_id=domain_id,
        command=command.reshape(n, act_dim) if command.size else None,
    )
    return Batch(stamp, run_id, collector_id, session, sequence, transitions)


def batch_to_bytes(batch: Batch) -> bytes:
    """The message as a collector sends it."""
    writer, transitions = CdrWriter(), batch.transitions
    writer.stamp(batch.stamp)
    writer.text(batch.run_id)
    writer.text(batch.collector_id)
    writer.number("Q", batch.session)
    writer.number("Q", batch.sequence)
    writer.number("B", int(transitions.origin))
    for size in (len(transitions), transitions.obs_dim, transitions.act_dim):
        writer.number("I", size)
    for values in (transitions.obs, transitions.action, transitions.reward, transitions.next_obs):
        writer.array(values)
    for flags in (transitions.terminated, transitions.truncated):
        writer.array(flags.astype(np.uint8))
    for numbers in (transitions.step, transitions.policy_version, transitions.domain_id):
        writer.array(numbers)
    writer.array(np.zeros(0, np.float32) if transitions.command is None else transitions.command)
    return writer.finished()
