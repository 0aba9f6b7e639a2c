"""Batches over DDS to a receiver that sleeps: they wait, and arrive in order."""

import itertools
import multiprocessing
import time
from contextlib import closing

from learner_peer import transitions
from ompo_msgs.msg import TransitionBatch
from probe import Probe
from rclpy.node import Node
from waiting import PATIENCE

from ompo_ros.nodes.policy_server import SAMPLED
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.batches import BatchPublisher
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.transitions import Origin


def send_until_full(pipe):
    """Send until nothing more fits, say how many were sent, then get rid of what waits."""
    with closing(Probe()) as probe:
        batches = BatchPublisher(probe.node, "transitions", Identity(probe.node, ""))
        pipe.send(batches.is_heard)
        probe.spin_until(lambda: batches.is_heard)
        few, stamp = transitions(Origin.SOURCE, 2), probe.node.get_clock().now().to_msg()
        for sent in itertools.count(1):
            batches.send(few, stamp)
            if not batches.flush():
                pipe.send(sent)
                break
        while not batches.flush():
            time.sleep(0.01)
        pipe.recv()


def test_batches_that_no_receiver_has_room_for_wait_and_arrive_in_order(probe):
    heard = []
    spawned = multiprocessing.get_context("spawn")
    pipe, far_end = spawned.Pipe()
    sender = spawned.Process(target=send_until_full, args=(far_end,), daemon=True)
    sender.start()
    assert pipe.recv() is False
    probe.node.create_subscription(
        TransitionBatch, "transitions", lambda batch: heard.append(batch.sequence), qos.TRANSITIONS
    )
    assert pipe.poll(PATIENCE)
    sent = pipe.recv()
    assert heard == []
    probe.spin_until(lambda: len(heard) == sent)
    assert heard == list(range(sent))
    pipe.send("all arrived")
    sender.join(PATIENCE)
    assert sender.exitcode == 0


def test_batches_are_held_back_while_only_onlookers_hear_them(probe):
    batches = BatchPublisher(probe.node, "transitions", Identity(probe.node, ""))
    recorder = Node("recorder", context=probe.context)
    recorder.create_subscription(TransitionBatch, "transitions", lambda _: None, qos.TRANSITIONS)
    server = Node("policy_server", context=probe.context)
    server.create_subscription(TransitionBatch, "transitions", lambda _: None, SAMPLED)
    named = lambda: {i.node_name for i in probe.node.get_subscriptions_info_by_topic("transitions")}  # noqa: E731
    probe.spin_until(lambda: named() == {"recorder", "policy_server"})
    assert not batches.is_heard
    probe.listen(TransitionBatch, "transitions", qos.TRANSITIONS)
    probe.spin_until(lambda: batches.is_heard)
    recorder.destroy_node()
    server.destroy_node()


def send_until_full_and_discard(pipe):
    """Send until nothing more fits, drop what waits, then send one longer batch."""
    with closing(Probe()) as probe:
        batches = BatchPublisher(probe.node, "transitions", Identity(probe.node, ""))
        probe.spin_until(lambda: batches.is_heard)
        stamp, sent = probe.node.get_clock().now().to_msg(), 0
        while batches.flush():
            batches.send(transitions(Origin.SOURCE, 2), stamp)
            sent += 1
        pipe.send((sent, batches.discard()))
        batches.send(transitions(Origin.SOURCE, 3), stamp)
        while not batches.flush():
            time.sleep(0.01)
        pipe.recv()


def test_a_discarded_batch_leaves_no_gap(probe):
    heard = probe.listen(TransitionBatch, "transitions", qos.TRANSITIONS)
    spawned = multiprocessing.get_context("spawn")
    pipe, far_end = spawned.Pipe()
    sender = spawned.Process(target=send_until_full_and_discard, args=(far_end,), daemon=True)
    sender.start()
    assert pipe.poll(60.0)
    sent, dropped = pipe.recv()
    assert dropped == 2
    probe.spin_until(lambda: len(heard) == sent)
    assert [(batch.sequence, batch.count) for batch in heard] == [(i, 2) for i in range(sent - 1)] + [(sent - 1, 3)]
    pipe.send("all arrived")
    sender.join(10.0)
