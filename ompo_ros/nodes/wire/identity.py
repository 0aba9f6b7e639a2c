"""A node's run: marks and signs its messages, and refuses those of other runs."""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections.abc import Callable
from typing import Any

from builtin_interfaces.msg import Time
from ompo_msgs.msg import ActorWeights, PolicyArtifact
from ompo_msgs.srv import SetEnabled
from rclpy.node import Node

from ompo_ros.parameters import InvalidParameter
from ompo_ros.signing import VARIABLE, Field, Stamps, encode, key_from, signature, skew_problem

GET_POLICY = "get_policy"  # channel of requested policies, which have no topic
MAX_RUN_ID = 64  # characters, as in the messages
_NS = 10**9
_SIGNED = (ActorWeights, PolicyArtifact)


class NotOurs(ValueError):
    """A message of another run, or one without the signature that is needed."""


class Identity:
    """A node's run and key."""

    def __init__(self, node: Node, run_id: str) -> None:
        if len(run_id) > MAX_RUN_ID:
            raise InvalidParameter("run_id", f"has {len(run_id)} characters, {MAX_RUN_ID} are allowed")
        self.run_id = run_id
        self.refused = 0  # messages of other runs, or without a valid signature
        self._node = node
        self._key = key_from(os.environ)
        self._stamps = Stamps()

    def only_ours(self, callback: Callable[[Any], None], channel: str = "") -> Callable[[Any], None]:
        """A subscription's callback for its own run only; `channel` is the one that the sender signed."""

        def hear(msg: Any) -> None:  # noqa: ANN401 (generated types have no common one)
            try:
                self.check(msg, channel)
                if self._key is not None and isinstance(msg, _SIGNED):
                    self._refuse_replay(msg, channel)
            except NotOurs as error:
                self.refused += 1
                self._node.get_logger().warning(
                    f"refused {type(msg).__name__} ({self.refused} refused so far): {error}", throttle_duration_sec=5.0
                )
                return
            callback(msg)

        return hear

    def check(self, msg: Any, channel: str) -> None:  # noqa: ANN401 (as above)
        """Raise NotOurs unless the message is of our run and, if a key is set, signed."""
        if msg.run_id != self.run_id:
            raise NotOurs(
                f"it is of run {msg.run_id[:MAX_RUN_ID]!r}, this node of run {self.run_id!r}: "
                "give each run a namespace or a ROS_DOMAIN_ID of its own, and all its nodes one run_id"
            )
        if self._key is not None and isinstance(msg, _SIGNED) and not _is_signed(self._key, msg, channel):
            raise NotOurs(f"its signature is not of the key that {VARIABLE} names: give every machine the same key")

    def sign(self, msg: Any, channel: str) -> Any:  # noqa: ANN401 (as above)
        """Mark a message with our run and the time; sign it if a key is set."""
        msg.run_id, msg.stamp = self.run_id, _to_stamp(time.time_ns())
        if self._key is not None:
            msg.signature = _signature(self._key, msg, channel)
        return msg

    def caller_problem(self, run_id: str) -> str:
        """The reason to refuse a call, or "": a run may call its own nodes, a person (no run) any."""
        if run_id in ("", self.run_id):
            return ""
        return f"refused: the call is of run {run_id[:MAX_RUN_ID]!r}, this node of run {self.run_id!r}"

    def enabling_problem(self, request: SetEnabled.Request) -> str:
        """The reason not to enable this node's arm, or ""; everybody may disable it."""
        if not request.enabled:
            return ""
        name = self._node.get_fully_qualified_name()
        problem = self.caller_problem(request.run_id)
        if problem or self._key is None:
            return problem
        if not _is_signed(self._key, request, name):
            return f"refused: not signed by the key that {VARIABLE} names: use `ompo enable` with the same key"
        stamp = _nanoseconds(request.stamp)
        problem = skew_problem(stamp, time.time_ns())
        problem = problem or self._stamps.problem(name, stamp, bytes(request.signature), may_repeat=False)
        return f"refused: {problem}" if problem else ""

    def _refuse_replay(self, msg: Any, channel: str) -> None:  # noqa: ANN401 (as above)
        stamp, signed = _nanoseconds(msg.stamp), bytes(msg.signature)
        problem = self._stamps.problem(channel, stamp, signed, may_repeat=True)
        if problem:
            raise NotOurs(problem)


def enabling_request(enabled: bool, node: str, run_id: str = "") -> SetEnabled.Request:
    """A call of `~/set_enabled` for the node with this full name, signed if a key is set."""
    request = SetEnabled.Request(enabled=enabled, run_id=run_id, stamp=_to_stamp(time.time_ns()))
    key = key_from(os.environ)
    if key is not None:
        request.signature = _signature(key, request, node)
    return request


def _is_signed(key: bytes, msg: Any, channel: str) -> bool:  # noqa: ANN401 (as above)
    return hmac.compare_digest(bytes(msg.signature), _signature(key, msg, channel))


def _signature(key: bytes, msg: Any, channel: str) -> bytes:  # noqa: ANN401 (as above)
    content = {ActorWeights: _weights, PolicyArtifact: _policy, SetEnabled.Request: _enabling}[type(msg)](msg)
    return signature(key, type(msg).__name__, channel, msg.run_id, _nanoseconds(msg.stamp), *content)


def _weights(msg: ActorWeights) -> list[Field]:
    digest = hashlib.sha256()
    for tensor in msg.tensors:
        digest.update(encode(tensor.name, tensor.shape.tobytes(), tensor.data.tobytes()))
    header = [msg.version, msg.updates, msg.target_steps, msg.obs_dim, msg.act_dim, msg.architecture]
    return [*header, digest.digest()]


def _policy(msg: PolicyArtifact) -> list[Field]:
    return [msg.version, hashlib.sha256(msg.onnx).digest()]


def _enabling(msg: SetEnabled.Request) -> list[Field]:
    return [int(msg.enabled)]


def _nanoseconds(stamp: Time) -> int:
    return int(stamp.sec) * _NS + int(stamp.nanosec)


def _to_stamp(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // _NS, nanosec=nanoseconds % _NS)
