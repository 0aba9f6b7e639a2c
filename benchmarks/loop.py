"""What ROS costs the loop: every node, as a process over DDS, beside the bare loop it wraps, in alternating turns.

Usage: benchmarks/loop.py [--turns N] [--seconds S] [--batches N] [--control-seconds S] [--swaps N]

learner_share      updates/s of the learner while a robot's episodes come in, per updates/s of the bare agent
transitions_per_s  into the learner's buffers from a sender that never waits by itself; lost: sent, but not counted
source_share       steps/s of the source collector per steps/s of the same arms and policy without ROS
late_ticks         share of a target collector's ticks that are late by more than 10 % of the period while stand-in,
                   policy server, learner and source collector run, the last two without ever a pause
swap_p50_ms, p99   from publishing weights, in the learner's place, until the collector has the policy for its next tick
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from domain_coordinator import domain_id
from learner import transitions
from ompo_msgs.msg import ActorWeights, LearnerStatus, PolicyArtifact, TransitionBatch
from policy import make_tensors, percentiles
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool

from ompo_ros.experiments.settings import node_settings
from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.nodes.target_collector import TargetCollector
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg, tensors_to_msgs, transitions_to_msg
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.resources import resource_path, settings_path
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, Float32Array, Task
from ompo_ros.transitions import Origin, Transitions

CONTRACT = Task("reach", "dense").contract
SETTINGS = settings_path("reach")
EPISODE = EPISODE_STEPS / load_robot("panda").control_rate  # seconds
FLOOD_SIZE = 256  # transitions in a message, as source collectors send them
ALWAYS = {"warmup": 1_000, "update_to_data": 10_000.0}  # updates are due at any time
PATIENCE = 60.0  # seconds


@contextlib.contextmanager
def running(executable: str, **parameters: object) -> Iterator[None]:
    """Run a node as a process, with the shipped parameters except for those given."""
    arguments = ["--ros-args", "--log-level", "warn", "--params-file", str(SETTINGS)]
    for name, value in parameters.items():
        arguments += ["-p", f"{name}:={value}"]
    process = subprocess.Popen([sys.executable, "-m", f"ompo_ros.nodes.{executable}", *arguments])
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


AnyPeer = TypeVar("AnyPeer", bound="Peer")


class Peer:
    """The benchmark's own end of the graph."""

    def __init__(self) -> None:
        self.node = Node("benchmark")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def __enter__(self: AnyPeer) -> AnyPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown()
        self.node.destroy_node()

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Spin until something is so; a graph where it never becomes so ends the benchmark."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"a node did not do its part within {seconds:g} s")
            self.executor.spin_once(timeout_sec=0.1)

    def spin(self, seconds: float) -> None:
        """Let what comes in come in."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)


class LearnerPeer(Peer):
    """Feeds a learner, starts its training and reads its counts; sends the same to its own agent."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[LearnerStatus] = []
        self.sent = {Origin.SOURCE: 0, Origin.TARGET: 0}
        self._sequence = {Origin.SOURCE: 0, Origin.TARGET: 0}
        self._rng = np.random.default_rng(0)
        self._batches = {
            origin: self.node.create_publisher(TransitionBatch, f"{origin.name.lower()}/transitions", qos.TRANSITIONS)
            for origin in Origin
        }
        self.node.create_subscription(LearnerStatus, "status", self.heard.append, qos.LATCHED)
        self.node.create_subscription(ActorWeights, "actor", lambda _: None, qos.LATCHED)
        self._pause = self.node.create_client(SetBool, "learner/set_paused")
        self.until(lambda: all(p.get_subscription_count() for p in self._batches.values()) and bool(self.heard))

    def send(self, origin: Origin, count: int) -> Transitions:
        """Publish made-up transitions and give them back."""
        made = transitions(origin, count, self._rng)
        name = f"benchmark/{origin.name}"
        msg = transitions_to_msg(made, collector_id=name, session=0, sequence=self._sequence[origin], stamp=Time())
        self._batches[origin].publish(msg)
        self.sent[origin] += count
        self._sequence[origin] += 1
        return made

    def status(self, *, paused: bool) -> tuple[float, LearnerStatus]:
        """Let the learner train or not, and give its counts at that moment, with the time they were taken."""
        self.until(self._pause.service_is_ready)
        self.heard.clear()
        answer = self._pause.call_async(SetBool.Request(data=paused))
        self.until(lambda: answer.done() and bool(self.heard))
        status = self.heard[-1]
        return status.stamp.sec + 1e-9 * status.stamp.nanosec, status


def learner_turns(peer: LearnerPeer, agent: Agent, turns: int, seconds: float) -> list[tuple[float, float]]:
    """Updates a second of node and agent, turn by turn; both get an episode as often as a robot makes one."""
    for origin, count in ((Origin.SOURCE, 64 * FLOOD_SIZE), (Origin.TARGET, agent.config.local_capacity)):
        while peer.sent[origin] < count:
            agent.observe(peer.send(origin, FLOOD_SIZE))
    rates = []
    for _ in range(turns + 1):
        start, before = peer.status(paused=False)
        episodes = []
        for _ in range(max(1, round(seconds / EPISODE))):
            episodes.append(peer.send(Origin.TARGET, EPISODE_STEPS))
            peer.spin(EPISODE)
        end, after = peer.status(paused=True)
        rates.append(((after.updates - before.updates) / (end - start), bare_updates(agent, episodes)))
    return rates[1:]  # the first one warms up


def bare_updates(agent: Agent, episodes: list[Transitions]) -> float:
    """Updates per second of an undisturbed agent."""
    start, before = time.perf_counter(), agent.updates
    for i, episode in enumerate(episodes, start=1):
        agent.observe(episode)
        while time.perf_counter() - start < i * EPISODE:
            agent.update(8)
    return (agent.updates - before) / (time.perf_counter() - start)


def flood(peer: LearnerPeer, batches: int, *, paused: bool) -> float:
    """Transitions a second that the learner's counts went up by, from a process that does nothing but send."""
    _, before = peer.status(paused=paused)
    child = subprocess.Popen([sys.executable, __file__, "--send", str(batches)], stdout=subprocess.PIPE, text=True)
    wanted, latest, changed = before.source_steps + batches * FLOOD_SIZE, before.source_steps, time.monotonic()
    while latest < wanted and time.monotonic() - changed < PATIENCE:
        peer.spin(0.2)  # asking costs the learner time
        end, now = peer.status(paused=paused)
        changed = time.monotonic() if now.source_steps > latest else changed
        latest = now.source_steps
    start = float(child.communicate(timeout=PATIENCE)[0])
    peer.sent[Origin.SOURCE] += batches * FLOOD_SIZE
    return float((latest - before.source_steps) / (end - start))


def send(batches: int) -> None:
    """The child: publishes as quickly as keep-all allows, and reports when it began."""
    rclpy.init()
    node = Node("flood")
    publisher = node.create_publisher(TransitionBatch, "source/transitions", qos.TRANSITIONS)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
    made = transitions(Origin.SOURCE, FLOOD_SIZE, np.random.default_rng(1))
    print(time.time())
    for sequence in range(batches):
        publisher.publish(
            transitions_to_msg(made, collector_id="flood", session=os.getpid(), sequence=sequence, stamp=Time())
        )
    publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=PATIENCE))
    rclpy.shutdown()


def measure_learner(turns: int, seconds: float, batches: int) -> tuple[list[tuple[float, float]], list[float], int]:
    """The turns' rates of updates, transitions a second while paused and while training, and how many were lost."""
    config = Config.from_dict(node_settings("learner")["learning"])
    agent = make_agent(config, CONTRACT.observation_size, CONTRACT.action_size, seed=0, device="cpu")
    with contextlib.ExitStack() as nodes:
        folder = nodes.enter_context(tempfile.TemporaryDirectory())
        nodes.enter_context(running("learner", run_dir=folder, device="cpu", **ALWAYS))
        peer = nodes.enter_context(LearnerPeer())
        peer.status(paused=True)
        rates = learner_turns(peer, agent, turns, seconds)
        floods = [flood(peer, batches, paused=paused) for paused in (True, False)]
        _, status = peer.status(paused=True)
    received = status.source_steps + status.target_steps
    return rates, floods, sum(peer.sent.values()) - received


def measure_source(turns: int, seconds: float) -> list[tuple[float, float]]:
    """Steps a second of the source collector and of the same arms by themselves, turn by turn."""
    arms, steps = (node_settings("source_collector")[name] for name in ("arms", "batch_steps"))
    policy = make_policy(Actor(make_tensors(1)), CONTRACT, version=1, stamp=0.0, training=Training(0, 0))
    runtime, rng = PolicyRuntime(policy.onnx, CONTRACT, batch=arms), np.random.default_rng(0)
    collection = Collection(PandaVectorEnv(arms, "reach", "dense", node_settings("source_collector")["domain"]), 0)

    def act(obs: Float32Array) -> Float32Array:
        return runtime.sample(obs, rng)

    def bare() -> float:
        start = time.perf_counter()
        count = 0
        while time.perf_counter() - start < seconds:
            count += len(collection.run(act, steps, 1)[0])
        return count / (time.perf_counter() - start)

    with Peer() as peer, running("source_collector"):
        heard: list[TransitionBatch] = []
        peer.node.create_subscription(TransitionBatch, "source/transitions", heard.append, qos.TRANSITIONS)
        artifact = artifact_to_msg(policy.onnx, version=1)
        policies = peer.node.create_publisher(PolicyArtifact, "policy/latest", qos.LATCHED)
        policies.publish(artifact)
        status = peer.node.create_publisher(LearnerStatus, "status", qos.LATCHED)

        def by_node() -> float:
            status.publish(LearnerStatus(state=LearnerStatus.TRAINING, source_budget=2**62))
            peer.until(lambda: bool(heard) and heard[-1].policy_version[0] == 1)
            heard.clear()
            peer.spin(seconds)
            status.publish(LearnerStatus(state=LearnerStatus.PAUSED))
            stamps = [msg.stamp.sec + 1e-9 * msg.stamp.nanosec for msg in heard]
            peer.spin(0.5)  # what it is still sending is not the next turn's
            heard.clear()
            return float((len(stamps) - 1) * arms * steps / (stamps[-1] - stamps[0]))

        return [(by_node(), bare()) for _ in range(turns + 1)][1:]  # the first one warms up


def stand_in() -> dict[str, str]:
    """A stand-in in the simulator that a launch takes by default."""
    has_bullet = importlib.util.find_spec("pybullet") is not None
    return {"simulator": "panda_gym" if has_bullet else "mujoco", "domain": "creeping"}


@contextlib.contextmanager
def run_without_pauses() -> Iterator[None]:
    """The nodes of a run in which nobody ever waits."""
    with contextlib.ExitStack() as nodes:
        folder = nodes.enter_context(tempfile.TemporaryDirectory())
        nodes.enter_context(running("learner", run_dir=folder, source_ratio=1e6, **ALWAYS))
        nodes.enter_context(running("policy_server", registry_dir=f"{folder}/policies"))
        nodes.enter_context(running("source_collector"))
        nodes.enter_context(running("robot_sim", **stand_in()))
        nodes.enter_context(running("target_collector", enabled=True))
        yield


def measure_control(seconds: float) -> tuple[int, int, float]:
    """Late ticks, ticks, and updates a second meanwhile, by the target collector's own report."""
    with contextlib.ExitStack() as nodes:
        nodes.enter_context(run_without_pauses())
        peer = nodes.enter_context(Peer())
        reports: list[dict[str, str]] = []
        statuses: list[LearnerStatus] = []

        def on_report(msg: DiagnosticArray) -> None:
            reports.append({pair.key: pair.value for pair in msg.status[0].values})

        peer.node.create_subscription(DiagnosticArray, "/diagnostics", on_report, 10)
        peer.node.create_subscription(LearnerStatus, "status", statuses.append, qos.LATCHED)
        peer.until(lambda: bool(reports and statuses) and int(reports[-1]["policy_version"]) > 1)
        first, updates = reports[-1], statuses[-1].updates
        peer.spin(seconds)
        late, ticks = (int(reports[-1][name]) - int(first[name]) for name in ("late_ticks", "ticks"))
        return late, ticks, (statuses[-1].updates - updates) / seconds


def measure_swaps(swaps: int) -> tuple[float, float]:
    """Milliseconds until a collector that plays on a robot has the policy: server, transport and loading included."""
    with contextlib.ExitStack() as nodes:
        folder = nodes.enter_context(tempfile.TemporaryDirectory())
        nodes.enter_context(running("policy_server", registry_dir=f"{folder}/policies"))
        nodes.enter_context(running("robot_sim", **stand_in()))
        peer = nodes.enter_context(Peer())
        collector = TargetCollector()
        peer.executor.add_node(collector)
        weights = peer.node.create_publisher(ActorWeights, "actor", qos.LATCHED)
        peer.until(lambda: weights.get_subscription_count() > 0 and collector.count_publishers("policy/latest") > 0)
        times = []
        for version in range(1, swaps + 6):
            msg = ActorWeights(version=version, obs_dim=20, act_dim=7, architecture="elu")
            msg.tensors = tensors_to_msgs(make_tensors(version))
            start = time.perf_counter()
            weights.publish(msg)
            peer.until(lambda: collector.collector.figures()["policy_version"] == msg.version)  # noqa: B023
            times.append(1e3 * (time.perf_counter() - start))
            peer.spin(0.1)
        collector.destroy_node()
        return percentiles(times[5:])  # the first ones import and discover


def main() -> None:
    """Measure one after the other, in a domain of their own and with the transport the launch file chooses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7, help="turns of each node and of the loop it wraps")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a turn")
    parser.add_argument("--batches", type=int, default=4_000, help="messages of the flood")
    parser.add_argument("--control-seconds", type=float, default=60.0, help="of counting late ticks")
    parser.add_argument("--swaps", type=int, default=200)
    parser.add_argument("--send", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        send(options.send)
        return
    os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(resource_path("config/fastdds.xml"))
    with domain_id() as domain:
        os.environ.update(ROS_DOMAIN_ID=str(domain), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        rclpy.init()
        learner, floods, lost = measure_learner(options.turns, options.seconds, options.batches)
        learner_share = tell("learner, updates/s", learner)
        print(f"{'into the buffers':22} {floods[0]:9.0f} transitions/s, {floods[1]:.0f} while it trains; {lost} lost")
        source_share = tell("source, steps/s", measure_source(options.turns, options.seconds))
        late, ticks, updates = measure_control(options.control_seconds)
        print(f"{'late ticks':22} {late} of {ticks}, {late / ticks:.2%}, at {updates:.0f} updates/s")
        p50, p99 = measure_swaps(options.swaps)
        print(f"{'weights to collector':22} p50 {p50:.1f} ms, p99 {p99:.1f} ms")
        rclpy.shutdown()
    report = {
        "learner_share": round(learner_share, 3),
        "transitions_per_s": round(floods[0]),
        "lost": lost,
        "source_share": round(source_share, 3),
        "late_ticks": round(late / ticks, 4),
        "swap_p50_ms": round(p50, 1),
        "swap_p99_ms": round(p99, 1),
    }
    print(json.dumps(report))


def tell(what: str, rates: list[tuple[float, float]]) -> float:
    """Print the medians of node and bare loop, and return the median of the turns' ratios."""
    node, bare = (statistics.median(column) for column in zip(*rates, strict=True))
    ratios = sorted(by_node / alone for by_node, alone in rates)
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    print(f"{what:22} {node:9.0f} node, {bare:9.0f} bare, ratio {statistics.median(ratios):.3f} ({spread})")
    return statistics.median(ratios)


if __name__ == "__main__":
    main()
