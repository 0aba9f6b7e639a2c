"""Policies reach a control loop over DDS and are loaded beside it."""

import pytest
from example_policies import REACH, make
from ompo_msgs.msg import PolicyArtifact

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.policy_feed import PolicyFeed, PolicyLoader
from ompo_ros.policy.errors import ContractMismatch
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task


class Loop:
    """A feed, and the server's side of its topic; `heard` counts what came to the node."""

    def __init__(self, probe):
        self.probe, self.heard = probe, []
        self.server = probe.node.create_publisher(PolicyArtifact, "policy/latest", qos.LATCHED)
        self.feed = PolicyFeed(probe.node, "policy/latest", REACH, Identity(probe.node, ""))
        probe.node.create_subscription(PolicyArtifact, "policy/latest", self.heard.append, qos.LATCHED)

    def publish(self, msg):
        count = len(self.heard)
        self.server.publish(msg)
        self.probe.spin_until(lambda: len(self.heard) > count)

    def until_version(self, version):
        def runs():
            self.feed.pause()
            return self.feed.newest() is not None and self.feed.newest().version == version

        self.probe.spin_until(runs)


@pytest.fixture
def loop(probe):
    loop = Loop(probe)
    yield loop
    loop.feed.close()


def message(policy):
    return artifact_to_msg(policy.onnx, version=policy.version)


def test_the_first_policy_is_loaded_at_once_and_the_next_while_the_loop_rests(loop):
    loop.publish(message(make(1)))
    loop.probe.spin_until(lambda: loop.feed.newest() is not None)
    loop.publish(message(make(2)))
    assert loop.feed.newest().version == 1
    loop.until_version(2)


def test_a_damaged_policy_leaves_the_one_before_and_the_next_takes_over(loop):
    loop.publish(message(make(1)))
    loop.until_version(1)
    damaged = message(make(2))
    damaged.onnx = bytes(damaged.onnx)[:-1]
    loop.publish(damaged)
    loop.publish(message(make(3)))
    loop.until_version(3)


@pytest.fixture
def loader():
    loader = PolicyLoader(REACH)
    yield loader
    loader.close()


def test_a_single_policy_is_loaded_while_the_loop_rests_one_after_the_other(probe, loader):
    for version in (4, 5):
        loaded = loader.load(message(make(version)))
        assert not loaded.done()
        probe.spin_until(lambda loaded=loaded: loader.pause() or loaded.done())
        assert loaded.result().version == version


def test_a_single_policy_that_cannot_be_run_says_why(probe, loader):
    loaded = loader.load(message(make(4, contract=Task("reach", "dense").on(load_robot("fr3")))))
    probe.spin_until(lambda: loader.pause() or loaded.done())
    with pytest.raises(ContractMismatch, match="not made for this arm: robot is"):
        loaded.result()
