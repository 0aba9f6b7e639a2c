"""A policy on a robot: one thread, no allocation, no action before robot and policy agree; swapped beside the loop."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from typing import Final

import numpy as np

from ompo_ros.policy.artifact import CheckedPolicy, read_policy
from ompo_ros.policy.errors import ContractMismatch, RefusedPolicy
from ompo_ros.policy.graph import Engine
from ompo_ros.task.contract import Contract, first_difference
from ompo_ros.transitions import Float32Array, InvalidData

# What a robot must fulfil; rewards and episode lengths matter to learning only.
ROBOT_FIELDS = ("robot", "frame", "joint_names", "control_rate", "observation", "action", "action_limit")
_SWITCH_INTERVAL: Final = 1e-4  # s


class PolicyRuntime:
    """Acts for one robot, or for `batch` of them at once; results are overwritten by the next call."""

    def __init__(
        self,
        policy: CheckedPolicy | bytes,
        contract: Contract,
        *,
        sha256: str | None = None,
        batch: int | None = None,
    ) -> None:
        """Load a policy for a robot that fulfils `contract`, bytes after checking them; raises RefusedPolicy."""
        if not isinstance(policy, CheckedPolicy):
            policy = read_policy(policy, sha256=sha256)
        require_contract(policy, contract)
        self.manifest = policy.manifest
        self.sha256 = policy.sha256
        self._engine = Engine(policy.onnx, batch or 1, contract.observation_size, contract.action_size)
        self._engine.warm_up()
        engine, row = self._engine, slice(None) if batch else 0
        self._obs, self._action = engine.obs[row], engine.action[row]
        self._mean, self._log_std = engine.mean[row], engine.log_std[row]
        self._noise = np.empty_like(self._mean)
        self._gain, self._bias = policy.actor.tensors["action_gain"], policy.actor.tensors["action_bias"]

        self.rest_action: Float32Array = np.clip(-self._bias / self._gain, -1.0, 1.0)

    @property
    def version(self) -> int:
        return self.manifest.version

    def act(self, obs: Float32Array) -> Float32Array:
        """Choose the deterministic action."""
        self._run(obs)
        return self._action

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        """Draw an action, tanh(mean + exp(log_std) * noise), for drives of the policy's gains and biases."""
        self._run(obs)
        deviation = np.exp(self._log_std, out=self._log_std)
        noise = rng.standard_normal(out=self._noise, dtype=np.float32)
        raw = np.add(self._mean, np.multiply(noise, deviation, out=noise), out=noise)
        effective = np.tanh(raw, out=raw)
        sent = np.divide(np.subtract(effective, self._bias, out=raw), self._gain, out=raw)
        return np.maximum(np.minimum(sent, 1.0, out=sent), -1.0, out=self._action)

    def _run(self, obs: Float32Array) -> None:
        if obs.shape != self._obs.shape:
            raise InvalidData("obs", f"has shape {obs.shape}, {self._obs.shape} is needed")
        self._obs[...] = obs
        # A finite sum of squares proves every value finite, at a fraction of the cost of looking at each.
        if not math.isfinite(np.vdot(self._obs, self._obs)):
            raise InvalidData("obs", "is not finite")
        self._engine.run()


def require_contract(policy: CheckedPolicy, contract: Contract) -> None:
    """Refuse a policy made for another robot, other joints or signals, another order, scale or rate."""
    if difference := first_difference(policy.manifest.contract, contract, ROBOT_FIELDS):
        raise ContractMismatch(f"policy {policy.version} was not made for this arm: {difference}")


# -- swapping -------------------------------------------------------------------------------------------------------


def shorten_thread_switches() -> None:
    """Let a loop that wakes up take the interpreter from the loader within 0.1 ms, not 5: for the whole process."""
    sys.setswitchinterval(_SWITCH_INTERVAL)


class PolicySlot:
    """Holds the runtime a loop acts with; newer ones are loaded in a thread beside it, and asking never waits."""

    def __init__(
        self, contract: Contract, on_refused: Callable[[RefusedPolicy], None], *, batch: int | None = None
    ) -> None:
        self._contract, self._on_refused, self._batch = contract, on_refused, batch
        self._offered: tuple[bytes, str] | None = None
        self._pausing = False
        self._changed = threading.Condition()
        self._closed = False
        self.runtime: PolicyRuntime | None = None  # read it once a step
        self._thread = threading.Thread(target=self._load_offers, name="policy loader", daemon=True)
        self._thread.start()

    def offer(self, onnx: bytes, sha256: str) -> None:
        """Hand in a policy; one that was not yet begun to load is skipped for it."""
        with self._changed:
            self._offered = (onnx, sha256)

    def pause(self) -> None:
        """Call it at the end of each step: loading begins only then, to be over before the next."""
        if self._offered is not None:
            with self._changed:
                self._pausing = True
                self._changed.notify()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _load_offers(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or (self._pausing and self._offered is not None))
                if self._closed or self._offered is None:
                    return
                (onnx, sha256), self._offered, self._pausing = self._offered, None, False
            try:
                self.runtime = PolicyRuntime(onnx, self._contract, sha256=sha256, batch=self._batch)
            except RefusedPolicy as refusal:
                self._on_refused(refusal)
