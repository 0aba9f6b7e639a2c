"""A policy on a robot: one thread, no allocation, and no action before robot and policy agreed on the contract."""

from __future__ import annotations

import math

import numpy as np

from ompo_ros.policy.actor import Float32Array
from ompo_ros.policy.engine import Engine
from ompo_ros.policy.errors import ContractMismatch
from ompo_ros.policy.files import Policy, read_policy
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import InvalidData

# What a robot must fulfil; rewards and episode lengths matter to learning only.
ROBOT_FIELDS = ("robot", "frame", "joint_names", "control_rate", "observation", "action", "action_limit")


class PolicyRuntime:
    """Acts for one robot, or for `batch` of them at once; results are overwritten by the next call."""

    def __init__(self, onnx: bytes, contract: Contract, *, sha256: str | None = None, batch: int | None = None) -> None:
        """Load a file for a robot that fulfils `contract`; raises RefusedPolicy, telling the reason by its class."""
        policy = read_policy(onnx, sha256=sha256)
        require_contract(policy, contract)
        self.manifest = policy.manifest
        self.sha256 = policy.sha256
        self._engine = Engine(onnx, batch or 1, contract.observation_size, contract.action_size)
        self._engine.warm_up()
        engine, row = self._engine, slice(None) if batch else 0
        self._obs, self._action = engine.obs[row], engine.action[row]
        self._mean, self._log_std = engine.mean[row], engine.log_std[row]
        self._noise = np.empty_like(self._mean)

    @property
    def version(self) -> int:
        return self.manifest.version

    def act(self, obs: Float32Array) -> Float32Array:
        """Choose the deterministic action, the squashed mean."""
        self._run(obs)
        return self._action

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        """Draw an action, tanh(mean + exp(log_std) * noise)."""
        self._run(obs)
        deviation = np.exp(self._log_std, out=self._log_std)
        noise = rng.standard_normal(out=self._noise, dtype=np.float32)
        raw = np.add(self._mean, np.multiply(noise, deviation, out=noise), out=noise)
        return np.tanh(raw, out=self._action)

    def _run(self, obs: Float32Array) -> None:
        if obs.shape != self._obs.shape:
            raise InvalidData("obs", f"has shape {obs.shape}, {self._obs.shape} is needed")
        self._obs[...] = obs
        # A finite sum of squares proves every value finite, at a fraction of the cost of looking at each.
        if not math.isfinite(np.vdot(self._obs, self._obs)):
            raise InvalidData("obs", "is not finite")
        self._engine.run()


def require_contract(policy: Policy, contract: Contract) -> None:
    """Refuse a policy made for another robot, other joints or signals, another order, scale or rate."""
    for field in ROBOT_FIELDS:
        made_for, here = getattr(policy.manifest.contract, field), getattr(contract, field)
        if made_for != here:
            raise ContractMismatch(
                f"policy {policy.version} was made for another {field}: {_difference(made_for, here)}"
            )


def _difference(made_for: object, here: object) -> str:
    """The first place where two contracts' fields part."""
    if isinstance(made_for, tuple) and isinstance(here, tuple):
        if len(made_for) != len(here):
            return f"{len(made_for)} entries, here {len(here)}"
        place = next(i for i, pair in enumerate(zip(made_for, here, strict=True)) if pair[0] != pair[1])
        return f"entry {place} is {made_for[place]}, here {here[place]}"
    return f"{made_for}, here {here}"
