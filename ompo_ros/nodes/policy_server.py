"""Turns the learner's weights into checked ONNX policies on two channels: `latest` and, after the gate, `stable`."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from ompo_msgs.msg import ActorWeights, EpisodeSummary, PolicyArtifact, PolicyInfo, TransitionBatch
from ompo_msgs.srv import Act, ActivatePolicy, GetPolicy, ListPolicies
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ompo_ros.nodes.parameters import PolicyServerParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import (
    MAX_NAME,
    actor_from_msg,
    artifact_to_msg,
    check_episode,
    transitions_from_msg,
)
from ompo_ros.nodes.wire.evaluation_client import Episodes, EvaluationClient
from ompo_ros.nodes.wire.identity import GET_POLICY, Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import run
from ompo_ros.nodes.wire.run_end import end_with_run
from ompo_ros.policy.artifact import CheckedPolicy
from ompo_ros.policy.errors import RefusedPolicy, RegistryError
from ompo_ros.policy.gate import GateSettings, Verdict
from ompo_ros.policy.keeper import PolicyKeeper
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.records import plain
from ompo_ros.policy.registry import ListedPolicy, Registry
from ompo_ros.policy.registry_state import CHANNELS, LATEST, STABLE
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData

GATE_PERIOD = 0.2  # seconds between two checks of the queue
REFUSALS_SAID, REFUSALS_PERIOD = 20, 10.0  # largest number of log lines in so many seconds; the others are counted
# A few observations of the target are enough; with best effort the collector never waits for this node.
SAMPLED = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
REFUSED = (InvalidData, RefusedPolicy, RegistryError, OSError)


class PolicyServer(Node):
    """Connects a PolicyKeeper to topics, services and the target collector's evaluation."""

    def __init__(self) -> None:
        super().__init__("policy_server", **OVERRIDES)
        given = declare(self, PolicyServerParameters)
        self._identity = Identity(self, given.run_id)
        self._episodes, self._pause = given.evaluation_episodes, given.evaluation_period
        self._folder = Path(given.registry_dir).expanduser()
        self._contract = Task(given.task, given.reward).on(load_robot(given.robot))
        self._keeper = self._open(given)
        self._runtimes: dict[str, PolicyRuntime] = {}
        self._rng = np.random.default_rng()
        self._refused = 0
        self._said: deque[float] = deque(maxlen=REFUSALS_SAID)  # when refusals were logged
        self._next_evaluation = 0.0
        self._evaluation = EvaluationClient(self, self._identity.run_id)
        self._channels = {
            name: self.create_publisher(PolicyArtifact, f"policy/{name}", qos.LATCHED) for name in CHANNELS
        }
        ours = self._identity.only_ours
        self.create_subscription(ActorWeights, "actor", ours(self._on_actor, "actor"), qos.LATCHED)
        self.create_subscription(EpisodeSummary, "target/episodes", ours(self._on_episode), qos.EPISODES)
        self.create_subscription(TransitionBatch, "target/transitions", ours(self._on_transitions), SAMPLED)
        end_with_run(self, self._identity)
        self.create_service(ListPolicies, "~/list_policies", self._list)
        self.create_service(GetPolicy, "~/get_policy", self._get)
        self.create_service(ActivatePolicy, "~/activate_policy", self._activate)
        self.create_service(Act, "~/act", self._act)
        for channel in CHANNELS:
            self._publish(channel)
        if given.gate:
            self.create_timer(GATE_PERIOD, self._look_at_candidates)
        self.get_logger().info(f"policies for {self._contract.task} on {self._contract.robot} in {self._folder}")

    def _open(self, given: PolicyServerParameters) -> PolicyKeeper:
        settings = GateSettings(
            margin=given.margin,
            confidence=given.confidence,
            min_success=given.min_success,
            window=given.evaluation_episodes,
        )
        try:
            registry = Registry(self._folder, given.keep)
            for warning in registry.warnings:
                self.get_logger().warning(warning)
            return PolicyKeeper(registry, self._contract, settings)
        except (RegistryError, OSError) as error:
            raise ValueError(f"registry_dir: {error}") from error

    # -- topics -------------------------------------------------------------------------------------------------

    def _on_actor(self, msg: ActorWeights) -> None:
        started = time.monotonic()
        try:
            stamp = msg.stamp.sec + 1e-9 * msg.stamp.nanosec
            training = Training(msg.updates, msg.target_steps)
            policy = self._keeper.accept(actor_from_msg(msg), version=msg.version, stamp=stamp, training=training)
        except REFUSED as error:
            self._refuse(f"weights {msg.version}", error)
            return
        self._publish(LATEST)
        took, parity = 1e3 * (time.monotonic() - started), policy.manifest.parity.max_error
        self.get_logger().debug(f"policy {policy.version}: parity error {parity:.1e}, ready after {took:.1f} ms")

    def _on_transitions(self, msg: TransitionBatch) -> None:
        try:
            transitions = transitions_from_msg(msg)
            self._keeper.record(transitions.obs, transitions.next_obs)
        except REFUSED as error:
            self._refuse(f"transitions of {msg.collector_id[:MAX_NAME]!r}", error)

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self._refuse(f"an episode of {msg.collector_id[:MAX_NAME]!r}", error)
            return
        # Exploring episodes succeed less often than the deterministic policy.
        if msg.deterministic and msg.outcome != EpisodeSummary.DROPPED:
            self._watch(msg.policy_version, [(msg.success, msg.episode_return)])

    def _publish(self, channel: str) -> None:
        try:
            policy = self._keeper.policy(channel)
        except RegistryError as error:
            self.get_logger().error(f"nothing on policy/{channel}: {error}")
            return
        if policy is not None:
            self._channels[channel].publish(self._to_msg(policy, f"policy/{channel}"))
            self.get_logger().info(f"policy/{channel}: {policy.version}")

    def _to_msg(self, policy: CheckedPolicy, channel: str) -> PolicyArtifact:
        return self._identity.sign(artifact_to_msg(policy.onnx, version=policy.version), channel)

    def _refuse(self, what: str, error: Exception) -> None:
        """Count refusals, and log them at a limited rate."""
        self._refused += 1
        now = time.monotonic()
        if len(self._said) < REFUSALS_SAID or now - self._said[0] > REFUSALS_PERIOD:
            self._said.append(now)
            self.get_logger().warning(plain(f"refused {what} ({self._refused} refused so far): {error}"))

    # -- the gate -----------------------------------------------------------------------------------------------

    def _look_at_candidates(self) -> None:
        self._evaluation.check()
        if not self._keeper.waiting or not self._evaluation.ready or time.monotonic() < self._next_evaluation:
            return
        try:
            candidate, verdict = self._keeper.next_candidate()
        except REFUSED as error:
            self._refuse("a candidate", error)
            return
        if not verdict.passed:
            self.get_logger().warning(f"policy {candidate.version} does not reach stable: {verdict.reason}")
            return
        self._evaluation.evaluate(
            candidate.version, self._episodes, lambda episodes: self._on_evaluated(candidate, episodes)
        )

    def _on_evaluated(self, candidate: CheckedPolicy, episodes: Episodes | None) -> None:
        """Judge a candidate; before it is refused as worse, stable is evaluated again: the robot may have changed."""
        self._next_evaluation = time.monotonic() + self._pause
        if episodes is None:
            self._keeper.put_back(candidate)
            return
        stable = self._keeper.registry.active(STABLE)
        verdict = self._judge(candidate, episodes)
        if verdict is None:
            self._keeper.put_back(candidate)
            return
        if verdict.passed or not stable or stable == candidate.version:
            return

        def on_stable_evaluated(measured: Episodes | None) -> None:
            self._next_evaluation = time.monotonic() + self._pause
            if measured is not None:
                self._watch(stable, measured)
                self._judge(candidate, episodes)

        self.get_logger().info(f"evaluating stable {stable} again, since policy {candidate.version} seems worse")
        self._evaluation.evaluate(stable, self._episodes, on_stable_evaluated)

    def _judge(self, candidate: CheckedPolicy, episodes: Episodes) -> Verdict | None:
        """Move stable if the evaluation allows; None if the registry could not be read or written."""
        try:
            verdict = self._keeper.judge(candidate, episodes)
        except REFUSED as error:
            self._refuse(f"the evaluation of policy {candidate.version}", error)
            return None
        if verdict.passed:
            self.get_logger().info(f"policy {candidate.version} is stable: {verdict.reason}")
            self._publish(STABLE)
        else:
            self.get_logger().warning(f"policy {candidate.version} does not reach stable: {verdict.reason}")
        return verdict

    def _watch(self, version: int, episodes: Episodes) -> None:
        try:
            reason = self._keeper.watch_stable(version, episodes)
        except REFUSED as error:
            self._refuse(f"episodes of policy {version}", error)
            return
        if reason:
            self.get_logger().warning(f"stable {reason}")
            self._publish(STABLE)

    # -- services -----------------------------------------------------------------------------------------------

    def _list(self, _: ListPolicies.Request, response: ListPolicies.Response) -> ListPolicies.Response:
        response.policies = [_info(policy) for policy in self._keeper.registry.listing()]
        return response

    def _get(self, request: GetPolicy.Request, response: GetPolicy.Response) -> GetPolicy.Response:
        try:
            version = request.version or self._keeper.registry.active(request.channel or STABLE)
            if not version:
                raise RegistryError(f"{request.channel or STABLE} holds no policy yet")
            response.policy = self._to_msg(self._keeper.registry.load(version), GET_POLICY)
            response.success = True
        except RegistryError as error:
            response.message = str(error)
        return response

    def _activate(self, request: ActivatePolicy.Request, response: ActivatePolicy.Response) -> ActivatePolicy.Response:
        response.message = self._identity.caller_problem(request.run_id)
        if response.message:
            return response
        try:
            response.previous_version = self._keeper.activate(
                request.channel, request.version, request.reason, pin=request.pin
            )
        except (RegistryError, OSError) as error:
            response.message = str(error)
            return response
        self._publish(request.channel)
        version = self._keeper.registry.active(request.channel)
        held = " and held there" if request.pin else ""
        response.success, response.message = True, f"{request.channel} moved to policy {version}{held}"
        self.get_logger().info(plain(f"{response.message}: {request.reason or 'asked for by a user'}"))
        return response

    def _act(self, request: Act.Request, response: Act.Response) -> Act.Response:
        channel = request.channel or STABLE
        obs = np.frombuffer(request.obs, np.float32)
        try:
            runtime = self._runtime(channel)
            action = runtime.act(obs) if request.deterministic else runtime.sample(obs, self._rng)
        except REFUSED as error:
            response.message = str(error)
            return response
        response.success, response.action, response.version = True, action.tobytes(), runtime.version
        return response

    def _runtime(self, channel: str) -> PolicyRuntime:
        """The runtime of a channel's policy, cached until the channel changes."""
        policy, runtime = self._keeper.policy(channel), self._runtimes.get(channel)
        if policy is None:
            raise RegistryError(f"{channel} holds no policy yet")
        if runtime is None or runtime.sha256 != policy.sha256:
            runtime = self._runtimes[channel] = PolicyRuntime(policy, self._contract)
        return runtime


def _info(policy: ListedPolicy) -> PolicyInfo:
    return PolicyInfo(
        version=policy.version,
        stamp=Time(sec=int(policy.stamp), nanosec=int(policy.stamp % 1 * 1e9)),
        sha256=policy.sha256,
        channels=policy.channels,
        pinned=policy.pinned,
        success_rate=float("nan") if policy.success_rate is None else policy.success_rate,
        evaluated_episodes=policy.episodes,
        note=policy.note,
    )


def main() -> None:
    """Run the server until it is stopped."""
    run(PolicyServer)


if __name__ == "__main__":
    main()
