"""How much typed transitions cost beside the same bytes as one uint8[]: two processes, conversions included.

Usage: benchmarks/messages.py [--batches N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from domain_coordinator import domain_id
from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node
from std_msgs.msg import UInt8MultiArray

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_from_msg, transitions_to_msg
from ompo_ros.transitions import Origin, Transitions

SIZE, OBS_DIM, ACT_DIM = 256, 20, 7
WAIT = 30.0  # seconds after which a silent peer means loss


def make_transitions() -> Transitions:
    """A batch as collectors send them: a few hundred transitions of a Panda."""
    rng = np.random.default_rng(0)
    counts = np.arange(SIZE, dtype=np.uint32)
    return Transitions(
        origin=Origin.SOURCE,
        obs=rng.standard_normal((SIZE, OBS_DIM), dtype=np.float32),
        action=rng.standard_normal((SIZE, ACT_DIM), dtype=np.float32),
        reward=rng.standard_normal(SIZE, dtype=np.float32),
        next_obs=rng.standard_normal((SIZE, OBS_DIM), dtype=np.float32),
        terminated=np.zeros(SIZE, dtype=np.bool_),
        truncated=np.zeros(SIZE, dtype=np.bool_),
        step=counts,
        policy_version=counts,
        domain_id=counts,
    )


def payload(transitions: Transitions) -> bytes:
    """The same bytes without their types."""
    return b"".join(values.tobytes() for values in vars(transitions).values() if isinstance(values, np.ndarray))


def send(mode: str, batches: int) -> None:
    """The child: publishes as quickly as keep-all lets it, then waits until all was acknowledged."""
    rclpy.init()
    node = Node("sender")
    kind = TransitionBatch if mode == "typed" else UInt8MultiArray
    publisher = node.create_publisher(kind, mode, qos.TRANSITIONS)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
    transitions, raw = make_transitions(), payload(make_transitions())
    for sequence in range(batches):
        if mode == "typed":
            msg = transitions_to_msg(transitions, collector_id="sender", session=0, sequence=sequence, stamp=Time())
        else:
            msg = UInt8MultiArray(data=raw)
        publisher.publish(msg)
    publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=WAIT))
    rclpy.shutdown()


def receive(node: Node, mode: str, batches: int) -> tuple[float, int]:
    """Batches a second from the first to the last one received, and how many never came."""
    stamps: list[float] = []

    def on_typed(msg: TransitionBatch) -> None:
        transitions_from_msg(msg)
        stamps.append(time.perf_counter())

    def on_bytes(msg: UInt8MultiArray) -> None:
        np.frombuffer(msg.data, dtype=np.uint8)
        stamps.append(time.perf_counter())

    kind, callback = (TransitionBatch, on_typed) if mode == "typed" else (UInt8MultiArray, on_bytes)
    subscription = node.create_subscription(kind, mode, callback, qos.TRANSITIONS)
    child = subprocess.Popen([sys.executable, __file__, "--send", mode, "--batches", str(batches)])
    last_heard = time.monotonic()
    while len(stamps) < batches and time.monotonic() - last_heard < WAIT:
        before = len(stamps)
        rclpy.spin_once(node, timeout_sec=0.5)
        last_heard = time.monotonic() if len(stamps) > before else last_heard
    child.wait(WAIT)
    node.destroy_subscription(subscription)
    return (len(stamps) - 1) / (stamps[-1] - stamps[0]), batches - len(stamps)


def main() -> None:
    """Measure both kinds in turn, in a domain of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=1000, help="batches in one round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each kind, taken in turn")
    parser.add_argument("--send", choices=["typed", "bytes"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.send:
        send(arguments.send, arguments.batches)
        return
    with domain_id() as domain:
        os.environ.update(ROS_DOMAIN_ID=str(domain), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        rclpy.init()
        node = Node("receiver")
        rates: dict[str, list[float]] = {"typed": [], "bytes": []}
        lost = 0
        for _ in range(arguments.rounds):
            for mode in rates:
                rate, missing = receive(node, mode, arguments.batches)
                rates[mode].append(rate)
                lost += missing
        rclpy.shutdown()
    megabytes = len(payload(make_transitions())) / 1e6
    print(f"{Path(__file__).name}: {arguments.rounds} x {arguments.batches} batches of {SIZE} transitions")
    print(f"{'as':8} {'batches/s':>10} {'transitions/s':>14} {'MB/s':>7}   (median of rounds, lowest to highest)")
    for mode, values in rates.items():
        median = statistics.median(values)
        spread = f"{min(values):.0f} to {max(values):.0f}"
        print(f"{mode:8} {median:10.0f} {median * SIZE:14.0f} {median * megabytes:7.0f}   {spread}")
    ratio = statistics.median(typed / raw for typed, raw in zip(rates["typed"], rates["bytes"], strict=True))
    print(json.dumps({"ratio_to_bytes": round(ratio, 3), "lost": lost}))


if __name__ == "__main__":
    main()
