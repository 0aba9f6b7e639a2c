"""What the policy server does, without ROS: takes actors in, keeps them, lets them through the gate and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ompo_ros.policy.actor import Float32Array, Tensors
from ompo_ros.policy.errors import ContractMismatch, RegistryError
from ompo_ros.policy.files import Policy, make_policy
from ompo_ros.policy.gate import (
    GateSettings,
    RunningSuccess,
    Verdict,
    evaluation_of,
    judge_behaviour,
    judge_stable,
    judge_success,
)
from ompo_ros.policy.manifest import Evaluation, Training
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import CHANNELS, LATEST, STABLE
from ompo_ros.task.contract import Contract

RECORDED = 256  # transitions of the target that exports are proven on

Episodes = Sequence[tuple[bool, float]]  # success and return


class PolicyKeeper:
    """The registry with its two channels, and the gate between them."""

    def __init__(self, registry: Registry, contract: Contract, settings: GateSettings) -> None:
        self.registry, self._contract, self._settings = registry, contract, settings
        self._running = RunningSuccess(settings.window)
        self._candidate: Policy | None = None
        empty = np.empty((0, contract.observation_size), np.float32)
        self._recorded = (empty, empty)
        for channel in CHANNELS:
            self._require_same_contract(channel)

    def policy(self, channel: str) -> Policy | None:
        """The policy a channel stands on."""
        version = self.registry.active(channel)
        return self.registry.load(version) if version else None

    # -- what comes in ------------------------------------------------------------------------------------------

    def record(self, obs: Float32Array, next_obs: Float32Array) -> None:
        """Keep the newest transitions of the target; rows of another size belong to another task."""
        if obs.shape[1] != self._contract.observation_size:
            size = self._contract.observation_size
            raise ContractMismatch(f"observations of {obs.shape[1]} values, {self._contract.task} has {size}")
        before, after = self._recorded
        self._recorded = (np.concatenate((before, obs))[-RECORDED:], np.concatenate((after, next_obs))[-RECORDED:])

    def accept(self, tensors: Tensors, *, version: int, stamp: float, training: Training) -> Policy:
        """Export and prove an actor, register it and move `latest` to it."""
        policy = make_policy(
            tensors, self._contract, version=version, stamp=stamp, training=training, recorded=self._recorded[0]
        )
        known = next((entry for entry in self.registry.entries if entry.version == version), None)
        if known and known.weights_sha256 == policy.manifest.weights_sha256 and version not in self.registry.damaged:
            return self.registry.load(version)  # sent again, perhaps because this server was restarted
        self.registry.add(policy, f"update {training.updates} of the learner", channel=LATEST)
        self._candidate = policy
        return policy

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> int:
        """Do as a user says; version 0 is the one before. Gives what the channel held."""
        version = version or self.registry.former(channel)
        if not version:
            raise RegistryError(f"{channel} has no earlier policy to go back to")
        previous = self.registry.move(channel, version, reason or "asked for by a user", pin=pin)
        if channel == STABLE:
            self._running.clear()
        return previous

    # -- the gate -----------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether a candidate could be looked at now."""
        recorded = len(self._recorded[0]) > 0
        return self._candidate is not None and recorded and not self.registry.pinned(STABLE)

    def next_candidate(self) -> tuple[Policy, Verdict]:
        """The newest policy not yet judged, and whether it is fit to be evaluated on the target."""
        if self._candidate is None:
            raise RegistryError("no candidate is waiting")
        candidate, self._candidate = self._candidate, None
        return candidate, judge_behaviour(candidate, self.policy(STABLE), *self._recorded, self._settings)

    def put_back(self, candidate: Policy) -> None:
        """Let a candidate whose evaluation came to nothing wait again, unless a newer one does."""
        self._candidate = self._candidate or candidate

    def judge(self, candidate: Policy, episodes: Episodes) -> Verdict:
        """Write a candidate's evaluation into its file, and move `stable` to it if it is not worse."""
        evaluation = evaluation_of(episodes)
        if evaluation is None:
            return Verdict(False, "no episode was played")
        evaluated = candidate.evaluated(evaluation)
        verdict = judge_success(evaluation, self.stable_evidence(), self._settings)
        if self.registry.pinned(STABLE):
            verdict = Verdict(False, "a user holds stable where it is")
        note = f"{'passed' if verdict.passed else 'refused'}: {verdict.reason}"
        self.registry.add(evaluated, note, channel=STABLE if verdict.passed else None)
        if verdict.passed:
            self._running.clear()
        return verdict

    def stable_evidence(self) -> Evaluation | None:
        """How stable does: its running episodes once they are enough, else those that proved it."""
        running, stable = self._running.evaluation, self.policy(STABLE)
        if stable is None:
            return None
        if running and running.episodes >= self._settings.window:
            return running
        return stable.manifest.evaluation or running

    def watch_stable(self, version: int, episodes: Episodes) -> str | None:
        """Count deterministic episodes of the target; gives the reason if `stable` has fallen back for it."""
        stable = self.registry.active(STABLE)
        if version != stable or not stable:
            return None
        self._running.extend(episodes)
        proven, running = self.registry.load(stable).manifest.evaluation, self._running.evaluation
        former = self.registry.former(STABLE)
        if proven is None or running is None or not former or self.registry.pinned(STABLE):
            return None
        verdict = judge_stable(running, proven, self._settings)
        if verdict.passed:
            return None
        reason = f"fell back from {stable} to {former}: {verdict.reason}"
        self.registry.move(STABLE, former, reason)
        self._running.clear()
        return reason

    def _require_same_contract(self, channel: str) -> None:
        version = self.registry.active(channel)
        if version and version not in self.registry.damaged:
            theirs = self.registry.load(version).manifest.contract
            if theirs != self._contract:
                raise ContractMismatch(
                    f"the registry's {channel} policy is for {theirs.task} on {theirs.robot}, this server for "
                    f"{self._contract.task} on {self._contract.robot}: choose another registry_dir"
                )
