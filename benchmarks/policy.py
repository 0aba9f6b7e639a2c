"""One action beside torch eager, weights to latched policy through a running server, and swaps inside a 100 Hz loop.

Usage: benchmarks/policy.py [--actions N] [--exports N] [--swaps N]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
import rclpy
import torch
from domain_coordinator import domain_id
from numpy.typing import NDArray
from ompo_msgs.msg import ActorWeights, PolicyArtifact
from rclpy.node import Node
from torch import nn

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import tensors_to_msgs
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.runtime import PolicyRuntime, PolicySlot, shorten_thread_switches
from ompo_ros.task.tasks import Task

OBS_DIM, HIDDEN, ACT_DIM = 20, 256, 7  # the paper's network on the reach task
CONTRACT = Task("reach", "dense").contract
RATE = 100.0  # Hz
LATE = 0.1  # of a period

Float32Array = NDArray[np.float32]


class EagerActor(nn.Module):
    """The same network as SAC programs write it: the action comes with its log density, even if unused."""

    def __init__(self, tensors: dict[str, Float32Array]) -> None:
        super().__init__()
        sizes = (OBS_DIM, HIDDEN, HIDDEN, 2 * ACT_DIM)
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in itertools.pairwise(sizes))
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                layer.weight.copy_(torch.from_numpy(tensors[f"weight_{i}"]).T)  # type: ignore[operator]
                layer.bias.copy_(torch.from_numpy(tensors[f"bias_{i}"]))  # type: ignore[operator]

    def distribution(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and log deviation."""
        first, second, last = self.layers
        hidden = nn.functional.elu(second(nn.functional.elu(first(obs))))
        mean, log_std = last(hidden).chunk(2, dim=-1)
        return mean, torch.clamp(log_std, -20.0, 2.0)

    def select_action(self, obs: Float32Array) -> Float32Array:
        """Sample with log density, return the squashed mean, as published programs do when they evaluate."""
        mean, log_std = self.distribution(torch.FloatTensor(obs).unsqueeze(0))
        normal = torch.distributions.Normal(mean, log_std.exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1.0 - action.pow(2) + 1e-6)  # type: ignore[no-untyped-call]
        log_prob.sum(1, keepdim=True)
        return np.asarray(torch.tanh(mean).detach().cpu().numpy()[0])

    @torch.no_grad()
    def lean_action(self, obs: Float32Array) -> Float32Array:
        """The least that eager torch can do for an action."""
        return np.asarray(torch.tanh(self.distribution(torch.from_numpy(obs))[0]).numpy())


def make_tensors(seed: int) -> dict[str, Float32Array]:
    """An actor of the paper's size, Xavier uniform."""
    rng = np.random.default_rng(seed)
    tensors = {"obs_mean": np.zeros(OBS_DIM, np.float32), "obs_scale": np.ones(OBS_DIM, np.float32)}
    limits = {"obs_clip": 10.0, "log_std_min": -20.0, "log_std_max": 2.0}
    tensors |= {name: np.array(value, np.float32) for name, value in limits.items()}
    tensors |= {"action_gain": np.ones(ACT_DIM, np.float32), "action_bias": np.zeros(ACT_DIM, np.float32)}
    for i, (rows, columns) in enumerate(((OBS_DIM, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * ACT_DIM))):
        limit = np.sqrt(6.0 / (rows + columns))
        tensors[f"weight_{i}"] = rng.uniform(-limit, limit, (rows, columns)).astype(np.float32)
        tensors[f"bias_{i}"] = np.zeros(columns, np.float32)
    return tensors


def percentiles(times: list[float]) -> tuple[float, float]:
    """Median and 99th."""
    p50, p99 = np.percentile(times, [50, 99])
    return float(p50), float(p99)


def measure_acting(actions: int) -> dict[str, tuple[float, float]]:
    """Microseconds of one action, the three ways in turn so that each meets the same machine."""
    torch.set_num_threads(1)
    tensors = make_tensors(0)
    policy = make_policy(Actor(tensors), CONTRACT, version=1, stamp=0.0, training=Training(0, 0))
    eager, runtime = EagerActor(tensors), PolicyRuntime(policy.onnx, CONTRACT)
    obs = np.random.default_rng(0).standard_normal(OBS_DIM, dtype=np.float32)
    np.testing.assert_allclose(runtime.act(obs), eager.lean_action(obs), atol=1e-5)
    ways: dict[str, Callable[[Float32Array], Float32Array]] = {
        "PolicyRuntime.act": runtime.act,
        "torch eager, select_action": eager.select_action,
        "torch eager, mean only": eager.lean_action,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(20):
        for name, act in ways.items():
            for _ in range(20):
                act(obs)
            for _ in range(actions // 20):
                started = time.perf_counter_ns()
                act(obs)
                times[name].append((time.perf_counter_ns() - started) / 1e3)
    return {name: percentiles(values) for name, values in times.items()}


@contextlib.contextmanager
def running_server() -> Iterator[None]:
    """A policy server of its own, with an empty registry on this machine's disk."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--ros-args", "-p", f"registry_dir:={folder}/policies", "--log-level", "warn"]
        server = subprocess.Popen([sys.executable, "-m", "ompo_ros.nodes.policy_server", *arguments])
        try:
            yield
        finally:
            server.terminate()
            server.wait(20)


def measure_export(exports: int) -> tuple[float, float]:
    """Milliseconds from publishing weights to receiving the proven, registered policy, both transports included."""
    rclpy.init()
    node = Node("learner")
    received: list[int] = []
    publisher = node.create_publisher(ActorWeights, "actor", qos.LATCHED)

    def on_policy(msg: PolicyArtifact) -> None:
        received.append(msg.version)

    node.create_subscription(PolicyArtifact, "policy/latest", on_policy, qos.LATCHED)
    with running_server():
        while publisher.get_subscription_count() == 0 or node.count_publishers("policy/latest") == 0:
            rclpy.spin_once(node, timeout_sec=0.1)
        times = []
        for version in range(1, exports + 1):
            msg = ActorWeights(version=version, obs_dim=OBS_DIM, act_dim=ACT_DIM, architecture="elu")
            msg.tensors = tensors_to_msgs(make_tensors(version))
            started = time.perf_counter()
            publisher.publish(msg)
            while not received or received[-1] != version:
                rclpy.spin_once(node, timeout_sec=5.0)
            times.append(1e3 * (time.perf_counter() - started))
            time.sleep(0.02)
    rclpy.shutdown()
    return percentiles(times[5:])  # the first ones import and discover


def measure_ticks(swaps: int) -> tuple[int, int, float]:
    """A loop at 100 Hz until so many swaps, or 1,000 ticks where there are none: ticks, those late, the worst in ms.

    A policy comes when it comes: at a random moment of the period, so that loading meets ticks.
    """
    made = [
        make_policy(Actor(make_tensors(i)), CONTRACT, version=i, stamp=0.0, training=Training(0, 0)) for i in (1, 2)
    ]
    offers = [(policy.onnx, policy.sha256) for policy in made]
    slot = PolicySlot(CONTRACT, lambda refusal: print(refusal))
    slot.offer(*offers[0])
    while slot.runtime is None:
        slot.pause()
        time.sleep(0.001)
    obs, rng = np.zeros(OBS_DIM, np.float32), np.random.default_rng(0)
    period, seen, offered, count = 1.0 / RATE, 1, 1, 0
    lateness: list[float] = []
    due = time.perf_counter() + period
    while count < swaps or len(lateness) < 1_000:
        if swaps and offered == seen:
            time.sleep(rng.uniform(0.0, max(0.0, due - time.perf_counter())))
            slot.offer(*offers[seen % 2])
            offered = 3 - seen
        time.sleep(max(0.0, due - time.perf_counter()))
        lateness.append(time.perf_counter() - due)
        slot.runtime.act(obs)
        if slot.runtime.version != seen:
            seen, count = slot.runtime.version, count + 1
        slot.pause()
        due += period
    slot.close()
    return len(lateness), sum(late > LATE * period for late in lateness), 1e3 * max(lateness)


def main() -> None:
    """Measure the three one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actions", type=int, default=20_000)
    parser.add_argument("--exports", type=int, default=200)
    parser.add_argument("--swaps", type=int, default=1_000)
    arguments = parser.parse_args()
    acting = measure_acting(arguments.actions)
    for name, (p50, p99) in acting.items():
        print(f"{name:28} p50 {p50:8.1f} us   p99 {p99:8.1f} us")
    shorten_thread_switches()
    for swaps in (0, arguments.swaps):
        ticks, late, worst = measure_ticks(swaps)
        said = f"{late} of {ticks} ticks late by more than {LATE:.0%}, the worst by {worst:.2f} ms"
        print(f"{swaps} swaps at {RATE:g} Hz: {said}")
    with domain_id() as domain:
        os.environ.update(ROS_DOMAIN_ID=str(domain), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        export = measure_export(arguments.exports)
    print(f"weights published to policy received: p50 {export[0]:.1f} ms   p99 {export[1]:.1f} ms")
    ours, reference = acting["PolicyRuntime.act"], acting["torch eager, select_action"]
    report = {
        "ratio_to_torch": round(reference[0] / ours[0], 1),
        "p50_us": round(ours[0], 1),
        "p99_us": round(ours[1], 1),
    }
    print(json.dumps({**report, "export_p99_ms": round(export[1], 1), "late_ticks": late}))


if __name__ == "__main__":
    main()
