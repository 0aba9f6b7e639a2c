"""What a deployment runs: a file, the policy that comes with the package, or what is stable in a registry."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.policy.artifact import policy_bytes, read_policy
from ompo_ros.policy.errors import RefusedPolicy, RegistryError
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import POLICIES, STABLE, STATE
from ompo_ros.policy.runtime import require_contract
from ompo_ros.resources import resource_path
from ompo_ros.task.contract import Contract
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

AUTO, FOLLOW = "auto", "stable"  # values of policy:= that name no file


@dataclass(frozen=True)
class Deployment:
    """One of three: a file, a registry to serve, or neither where a server runs elsewhere."""

    policy: str = ""
    registry_dir: str = ""

    @property
    def runs_alone(self) -> bool:
        """Whether nothing of another launch is needed."""
        return bool(self.policy or self.registry_dir)

    def __str__(self) -> str:
        if self.policy:
            return self.policy
        return f"the stable policy of {self.registry_dir or 'the policy server in the namespace'}"


def deployment_of(values: Mapping[str, str]) -> Deployment:
    """Find out what is to be run; RuntimeError says what to do where there is nothing."""
    policy, registry_dir = values["policy"], values["registry_dir"]
    if registry_dir:
        if policy != AUTO:
            raise RuntimeError("policy:= runs one file, registry_dir:= follows a registry's stable policy: choose one.")
        return Deployment(registry_dir=str(_with_stable(Path(registry_dir).expanduser().resolve(), values)))
    if policy == AUTO:
        return Deployment(policy=str(_shipped(values["task"], values["robot"])))
    if policy == FOLLOW:
        return Deployment()
    file = Path(policy).expanduser().resolve()
    if not file.exists():
        raise RuntimeError(f"policy: there is no {file}; a run's policies are in RUN/policies/policies.")
    try:
        require_contract(read_policy(policy_bytes(file)), _contract(values))
    except (OSError, RefusedPolicy) as error:
        raise RuntimeError(f"policy: {file} cannot be run: {error}") from error
    return Deployment(policy=str(file))


def _contract(values: Mapping[str, str]) -> Contract:
    return Task(values["task"], values["reward"]).on(load_robot(values["robot"]))


def _shipped(task: str, robot: str) -> Path:
    return resource_path(f"models/policies/{load_robot(robot).family}_{task}.onnx")


def _with_stable(folder: Path, values: Mapping[str, str]) -> Path:
    """The folder, if it has a policy to run; otherwise the arm would be enabled and stand still."""
    try:
        registry = Registry(folder, read_only=True)
    except (RegistryError, OSError) as error:
        if (folder / POLICIES / STATE).exists():
            raise RuntimeError(
                f"registry_dir: {folder} is a run; did you mean registry_dir:={folder / POLICIES}?"
            ) from error
        hint = "give the folder `policies` of a finished run, or one file by policy:=FILE."
        raise RuntimeError(f"registry_dir: {error}; {hint}") from error
    if not registry.active(STABLE):
        have = ", ".join(str(entry.version) for entry in registry.entries) or "none"
        raise RuntimeError(
            f"registry_dir: no policy in {folder} is stable (it holds: {have}). `ompo policy list --registry {folder}` "
            f"shows how they did, `ompo policy activate VERSION --registry {folder}` makes one stable."
        )
    try:
        with contextlib.suppress(RegistryError):  # from a damaged policy the server returns to the one before
            require_contract(registry.load(registry.active(STABLE)), _contract(values))
    except RefusedPolicy as error:
        raise RuntimeError(f"registry_dir: the stable policy of {folder} cannot be run: {error}") from error
    return folder
