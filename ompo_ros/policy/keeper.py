"""What the policy server does, without ROS: takes actors in, keeps them, lets them through the gate and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ompo_ros.policy.actor import Actor, Float32Array
from ompo_ros.policy.artifact import CheckedPolicy, make_policy
from ompo_ros.policy.errors import ContractMismatch, RegistryError
from ompo_ros.policy.gate import (
    GateSettings,
    RunningSuccess,
    Verdict,
    judge_behaviour,
    judge_stable,
    judge_success,
)
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import CHANNELS, LATEST, STABLE
from ompo_ros.task.acting import Evaluation, count_episodes
from ompo_ros.task.contract import Contract

RECORDED = 256  # transitions of the target that exports are proven on

Episodes = Sequence[tuple[bool, float]]  # success and return


class PolicyKeeper:
    """The registry with its two channels, and the gate between them."""

    def __init__(self, registry: Registry, contract: Contract, settings: GateSettings) -> None:
        self.registry, self._contract, self._settings = registry, contract, settings
        self._running = RunningSuccess(settings.window)
        self._candidate: CheckedPolicy | None = None
        self._judged: tuple[tuple[int, Evaluation], Verdict] | None = None  # the last result of a run, and its verdict
        self._standing: dict[int, CheckedPolicy] = {}  # what channels stand on, by version, as far as it was needed
        empty = np.empty((0, contract.observation_size), np.float32)
        self._recorded = (empty, empty)
        for channel in CHANNELS:
            self._require_same_contract(channel)

    def policy(self, channel: str) -> CheckedPolicy | None:
        """The policy a channel stands on; read from disk only if it was not made or read by this process before."""
        version = self.registry.active(channel)
        if not version:
            return None
        if version not in self._standing:
            self._remember(self.registry.load(version))
        return self._standing[version]

    # -- what comes in ------------------------------------------------------------------------------------------

    def record(self, obs: Float32Array, next_obs: Float32Array) -> None:
        """Keep the newest transitions of the target; rows of another size belong to another task."""
        if obs.shape[1] != self._contract.observation_size:
            size = self._contract.observation_size
            raise ContractMismatch(f"observations of {obs.shape[1]} values, {self._contract.task} has {size}")
        before, after = self._recorded
        self._recorded = (np.concatenate((before, obs))[-RECORDED:], np.concatenate((after, next_obs))[-RECORDED:])

    def accept(self, actor: Actor, *, version: int, stamp: float, training: Training) -> CheckedPolicy:
        """Export and prove an actor, register it and move `latest` to it."""
        known = self.registry.find(version)
        if known and known.weights_sha256 == actor.sha256 and version not in self.registry.damaged:
            return self.registry.load(version)  # sent again, perhaps because this server was restarted
        policy = make_policy(
            actor, self._contract, version=version, stamp=stamp, training=training, recorded=self._recorded[0]
        )
        self.registry.add(policy, f"update {training.updates} of the learner", channel=LATEST)
        self._remember(policy)
        self._candidate = policy
        return policy

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> int:
        """Do as a user says; version 0 is the one before. Gives what the channel held."""
        version = self.registry.asked_for(channel, version)
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

    def next_candidate(self) -> tuple[CheckedPolicy, Verdict]:
        """The newest policy not yet judged, and whether it is fit to be evaluated on the target."""
        if self._candidate is None:
            raise RegistryError("no candidate is waiting")
        candidate, self._candidate = self._candidate, None
        return candidate, judge_behaviour(candidate, self.policy(STABLE), *self._recorded, self._settings)

    def put_back(self, candidate: CheckedPolicy) -> None:
        """Let a candidate whose evaluation came to nothing wait again, unless a newer one does."""
        self._candidate = self._candidate or candidate

    def judge(self, candidate: CheckedPolicy, episodes: Episodes) -> Verdict:
        """Write a candidate's evaluation into its file, and move `stable` to it if it is not worse."""
        evaluation = count_episodes(episodes)
        if evaluation is None:
            return Verdict(False, "no episode was played")
        return self._settle(candidate, evaluation, judge_success(evaluation, self.stable_evidence(), self._settings))

    def judge_result(self, version: int, evaluation: Evaluation) -> Verdict:
        """Judge a policy that a run has evaluated as its result: by its behaviour, then by its success.

        A run that got no answer asks again. It gets the same one: stable may hold this policy by now, or another one
        that a user has put there since.
        """
        asked = version, evaluation
        if self._judged is None or self._judged[0] != asked:
            self._judged = asked, self._judge_result(version, evaluation)
        return self._judged[1]

    def _judge_result(self, version: int, evaluation: Evaluation) -> Verdict:
        stable = self.registry.standing(STABLE)
        if stable is not None and (stable.version, stable.evaluation) == (version, evaluation):
            return Verdict(True, f"stable holds it since {evaluation.successes}/{evaluation.episodes} episodes succeed")
        result = self.registry.load(version)
        verdict = judge_success(evaluation, self.stable_evidence(), self._settings)
        if verdict.passed and len(self._recorded[0]):
            behaviour = judge_behaviour(result, self.policy(STABLE), *self._recorded, self._settings)
            verdict = verdict if behaviour.passed else behaviour
        if self._candidate is not None and self._candidate.version <= version:
            self._candidate = None
        return self._settle(result, evaluation, verdict)

    def _settle(self, policy: CheckedPolicy, evaluation: Evaluation, verdict: Verdict) -> Verdict:
        """Register a judged policy with its evaluation; `stable` moves unless a user holds it."""
        if self.registry.pinned(STABLE):
            verdict = Verdict(False, "a user holds stable where it is")
        evaluated = policy.evaluated(evaluation)
        note = f"{'passed' if verdict.passed else 'refused'}: {verdict.reason}"
        self.registry.add(evaluated, note, channel=STABLE if verdict.passed else None)
        self._remember(evaluated)
        if verdict.passed:
            self._running.clear()
        return verdict

    def stable_evidence(self) -> Evaluation | None:
        """How stable does: its running episodes once they are enough, else those that proved it."""
        running, stable = self._running.evaluation, self.registry.standing(STABLE)
        if stable is None:
            return None
        if running and running.episodes >= self._settings.window:
            return running
        return stable.evaluation or running

    def watch_stable(self, version: int, episodes: Episodes) -> str | None:
        """Count deterministic episodes of the target; gives the reason if `stable` has fallen back for it."""
        stable = self.registry.standing(STABLE)
        if stable is None or version != stable.version:
            return None
        self._running.extend(episodes)
        proven, running = stable.evaluation, self._running.evaluation
        former = self.registry.former(STABLE)
        if proven is None or running is None or not former or self.registry.pinned(STABLE):
            return None
        verdict = judge_stable(running, proven, self._settings)
        if verdict.passed:
            return None
        reason = f"fell back from {version} to {former}: {verdict.reason}"
        self.registry.move(STABLE, former, reason)
        self._running.clear()
        return reason

    def _remember(self, policy: CheckedPolicy) -> None:
        """Keep what a channel stands on at hand, and nothing else."""
        active = {self.registry.active(channel) for channel in CHANNELS}
        known = {**self._standing, policy.version: policy}
        self._standing = {version: standing for version, standing in known.items() if version in active}

    def _require_same_contract(self, channel: str) -> None:
        if self.registry.active(channel) in self.registry.damaged:
            return
        policy = self.policy(channel)
        if policy is not None and policy.manifest.contract != self._contract:
            theirs = policy.manifest.contract
            raise ContractMismatch(
                f"the registry's {channel} policy is for {theirs.task} on {theirs.robot}, this server for "
                f"{self._contract.task} on {self._contract.robot}: choose another registry_dir"
            )
