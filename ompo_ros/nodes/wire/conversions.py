"""numpy to messages and back; an incoming message is checked completely before any of it is used."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from ompo_msgs.msg import ActorWeights, EpisodeSummary, LearnerStatus, PolicyArtifact, Tensor, TransitionBatch

from ompo_ros.policy.actor import Actor
from ompo_ros.transitions import BoolArray, Float32Array, InvalidData, Origin, Transitions

MAX_TRANSITIONS = 65_536  # in one batch; senders stay far below (a few hundred)
MAX_DIM = 4_096  # of an observation or action
MAX_TENSORS = 256
MAX_WEIGHTS = 16_777_216  # in one actor, over all its tensors
MAX_ONNX_BYTES = 67_108_864
MAX_NAME = 256  # characters of an identifier; the messages' own bound, which Fast DDS does not enforce
MAX_NAMES = 1_024  # entries of a list of names


def transitions_to_msg(
    transitions: Transitions, *, collector_id: str, session: int, sequence: int, stamp: Time, run_id: str = ""
) -> TransitionBatch:
    """As bytes, which a message's constructor copies at once; anything else is copied element by element."""
    return TransitionBatch(
        stamp=stamp,
        collector_id=collector_id,
        run_id=run_id,
        session=session,
        sequence=sequence,
        origin=int(transitions.origin),
        count=len(transitions),
        obs_dim=transitions.obs_dim,
        act_dim=transitions.act_dim,
        obs=transitions.obs.tobytes(),
        action=transitions.action.tobytes(),
        reward=transitions.reward.tobytes(),
        next_obs=transitions.next_obs.tobytes(),
        terminated=transitions.terminated.tobytes(),
        truncated=transitions.truncated.tobytes(),
        step=transitions.step.tobytes(),
        policy_version=transitions.policy_version.tobytes(),
        domain_id=transitions.domain_id.tobytes(),
        command=b"" if transitions.command is None else transitions.command.tobytes(),
    )


def transitions_from_msg(msg: TransitionBatch) -> Transitions:
    """Views on the message's own memory; raises InvalidData with the field's name if something is wrong."""
    _require_name("collector_id", msg.collector_id)
    n = _require_range("count", msg.count, 1, MAX_TRANSITIONS)
    obs_dim = _require_range("obs_dim", msg.obs_dim, 1, MAX_DIM)
    act_dim = _require_range("act_dim", msg.act_dim, 1, MAX_DIM)
    _require_range("origin", msg.origin, min(Origin), max(Origin))
    return Transitions(
        origin=Origin(msg.origin),
        obs=_rows("obs", msg.obs, (n, obs_dim)),
        action=_rows("action", msg.action, (n, act_dim)),
        reward=np.frombuffer(msg.reward, np.float32),
        next_obs=_rows("next_obs", msg.next_obs, (n, obs_dim)),
        terminated=_flags("terminated", msg.terminated),
        truncated=_flags("truncated", msg.truncated),
        step=np.frombuffer(msg.step, np.uint32),
        policy_version=np.frombuffer(msg.policy_version, np.uint32),
        domain_id=np.frombuffer(msg.domain_id, np.uint32),
        command=_rows("command", msg.command, (n, act_dim)) if len(msg.command) else None,
    )


def tensors_to_msgs(tensors: Mapping[str, Float32Array]) -> list[Tensor]:
    """An actor's named arrays, in the order given."""
    return [Tensor(name=name, shape=values.shape, data=values.tobytes()) for name, values in tensors.items()]


def actor_from_msg(msg: ActorWeights) -> Actor:
    """The actor, as views on the message's own memory; raises InvalidData or InvalidWeights."""
    _require_range("version", msg.version, 1, 2**32 - 1)
    _require_range("tensors", len(msg.tensors), 1, MAX_TENSORS)
    _require_range("tensors", sum(len(tensor.data) for tensor in msg.tensors), 1, MAX_WEIGHTS)
    tensors: dict[str, Float32Array] = {}
    for tensor in msg.tensors:
        _require_name("tensors.name", tensor.name)
        if tensor.name in tensors:
            raise InvalidData("tensors.name", f"{tensor.name!r} occurs twice")
        _require_range(f"tensors[{tensor.name}].shape", len(tensor.shape), 0, 8)
        tensors[tensor.name] = _rows(f"tensors[{tensor.name}].data", tensor.data, tuple(tensor.shape))
    actor = Actor(tensors)
    for field in ("architecture", "obs_dim", "act_dim"):
        if (said := getattr(msg, field)) != (found := getattr(actor.shape, field)):
            raise InvalidData(field, f"is {said!r:.40}, but the tensors are of {found!r}")
    return actor


def artifact_to_msg(onnx: bytes, *, version: int) -> PolicyArtifact:
    """The policy's file with the checksum that receivers verify."""
    return PolicyArtifact(version=version, sha256=hashlib.sha256(onnx).hexdigest(), onnx=onnx)


def artifact_from_msg(msg: PolicyArtifact) -> bytes:
    """The ONNX file, after its checksum was verified."""
    _require_range("version", msg.version, 1, 2**32 - 1)
    _require_range("onnx", len(msg.onnx), 1, MAX_ONNX_BYTES)
    onnx = bytes(msg.onnx)
    if hashlib.sha256(onnx).hexdigest() != msg.sha256:
        raise InvalidData("sha256", "does not agree with the bytes of onnx")
    return onnx


def check_episode(msg: EpisodeSummary, origin: Origin = Origin.TARGET) -> None:
    """Raises InvalidData unless the summary is valid and of this origin."""
    _require_name("collector_id", msg.collector_id)
    _require_range("origin", msg.origin, origin, origin)
    _require_range("outcome", msg.outcome, EpisodeSummary.TERMINATED, EpisodeSummary.STOPPED)
    if not math.isfinite(msg.episode_return):
        raise InvalidData("episode_return", f"is {msg.episode_return}, a finite number is needed")
    _require_names("domain_names", msg.domain_names, "domain_values", len(msg.domain_values))
    _require_finite("domain_values", np.asarray(msg.domain_values))


def metrics_from_msg(msg: LearnerStatus) -> dict[str, float]:
    """The learner's metrics by name; a metric may be NaN (not measured yet), a rate may not."""
    _require_range("state", msg.state, LearnerStatus.WAITING, LearnerStatus.FINISHED)
    for field in ("updates_per_second", "update_to_data"):
        if not math.isfinite(getattr(msg, field)):
            raise InvalidData(field, f"is {getattr(msg, field)}, a finite number is needed")
    _require_names("metric_names", msg.metric_names, "metric_values", len(msg.metric_values))
    return dict(zip(msg.metric_names, msg.metric_values, strict=True))


def _rows(field: str, values: array[float], shape: tuple[int, ...]) -> Float32Array:
    expected = math.prod(shape)
    if len(values) != expected:
        raise InvalidData(field, f"holds {len(values)} values, {expected} are needed for shape {shape}")
    return np.frombuffer(values, np.float32).reshape(shape)


def _flags(field: str, values: array[int]) -> BoolArray:
    if values.tobytes().strip(b"\0\1"):
        raise InvalidData(field, "holds a value that is neither 0 nor 1")
    return np.frombuffer(values, np.bool_)


def _require_range(field: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InvalidData(field, f"is {value}, {low} to {high} is allowed")
    return value


def _require_name(field: str, value: str) -> None:
    if not 0 < len(value) <= MAX_NAME:
        raise InvalidData(field, f"has {len(value)} characters, 1 to {MAX_NAME} are allowed")


def _require_names(field: str, names: list[str], values_field: str, count: int) -> None:
    _require_range(field, len(names), 0, MAX_NAMES)
    if len(names) != count:
        raise InvalidData(values_field, f"holds {count} values for {len(names)} names")
    if len(set(names)) != len(names):
        raise InvalidData(field, "names something twice")
    for name in names:
        _require_name(field, name)


def _require_finite(field: str, values: NDArray[Any]) -> None:
    if not np.isfinite(values).all():
        raise InvalidData(field, "is not finite")
