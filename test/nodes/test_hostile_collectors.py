"""A learner among senders of nonsense: it refuses and counts what is wrong, and goes on learning from the rest."""

import contextlib
import random

import launch
import launch_pytest
import pytest
from launch_pytest.tools import process as process_tools
from learner_peer import Collectors, learner_action
from ompo_msgs.msg import EpisodeSummary, TransitionBatch
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import actor_from_msg
from ompo_ros.transitions import Origin

LAST = 2**64 - 1


@pytest.fixture
def learner(tmp_path):
    return learner_action(tmp_path)


@launch_pytest.fixture
def graph(ros_domain, learner):
    return launch.LaunchDescription([learner, launch_pytest.actions.ReadyToTest()])


@pytest.fixture
def collectors(probe):
    return Collectors(probe)


@contextlib.contextmanager
def survived_by(learner, collectors):
    """Fails unless the process that runs at the end is the one that ran at the start."""
    collectors.wait_for_learner()
    first = learner.process_details["pid"]
    yield
    assert learner.process_details["pid"] == first


@pytest.mark.launch(fixture=graph)
def test_what_cannot_be_is_refused_by_its_field_counted_and_spoils_nothing(collectors, learner, launch_context):
    with survived_by(learner, collectors):
        collectors.send(Origin.TARGET, origin=TransitionBatch.SOURCE)
        collectors.send(Origin.SOURCE, origin=TransitionBatch.TARGET)
        for field, size, value in (("reward", 64, 1e38), ("obs", 64 * 20, 1e30), ("next_obs", 64 * 20, -1e30)):
            collectors.send(Origin.TARGET, sequence=0, **{field: [0.0] * (size - 1) + [value]})
        collectors.until(refused_messages=5, target_steps=0, source_steps=0)
        assert process_tools.wait_for_stderr_sync(
            launch_context, learner, lambda text: "origin: " in text, timeout=PATIENCE
        )
        collectors.send(Origin.TARGET, sequence=0)
        for run in (1, 1, 2, 2, 3, 3, 1):
            collectors.send(Origin.TARGET, session=run, sequence=LAST, reward=[float("nan")] * 64)
        collectors.send(Origin.TARGET, sequence=LAST)
        collectors.send(Origin.TARGET, sequence=1)
        collectors.until(target_steps=128, source_steps=0, refused_messages=13, lost_batches=0)
        collectors.send(Origin.SOURCE, sequence=0)
        collectors.probe.spin_until(lambda: collectors.actors and collectors.actors[-1].updates >= 64)
        assert all(actor_from_msg(actor) for actor in collectors.actors)  # which refuses whatever is not finite


@pytest.mark.launch(fixture=graph)
def test_only_so_many_collectors_are_listened_to(collectors, learner):
    with survived_by(learner, collectors):
        for number in range(260):
            collectors.send(Origin.SOURCE, collector_id=f"collector {number}", sequence=0)
        collectors.until(source_steps=256 * 64, refused_messages=4)


def hostile_changes(rng) -> dict:
    """A few fields of a batch, each at one of its edges."""
    floats = [0.0, -0.0, 1e-45, 1e20, 3e38, float("inf"), float("nan")]
    edges = {
        "collector_id": ["", "x" * 300, "é" * 100_000, "a\nb", "\x7f"],
        "session": [0, LAST],
        "run_id": ["another", "x" * 1000],
        "sequence": [0, 2**63, LAST],
        "origin": [0, 1, 2, 255],
        "count": [0, 1, 63, 65, 65_537, 2**32 - 1],
        "obs_dim": [0, 1, 19, 21, 2**32 - 1],
        "act_dim": [0, 1, 6, 8, 2**32 - 1],
        "terminated": [b"", b"\2" * 64, b"\0" * 63],
        "truncated": [b"", b"\xff" * 64],
        "step": [[], [2**32 - 1] * 64],
        "policy_version": [[], [0] * 65],
        "domain_id": [[0]],
        **{
            name: [[], [rng.choice(floats)] * size, [rng.choice(floats)] * (size + 1)]
            for name, size in (("obs", 1280), ("next_obs", 1280), ("action", 448), ("reward", 64))
        },
    }
    return {name: rng.choice(edges[name]) for name in rng.sample(sorted(edges), rng.randint(1, 3))}


def hostile_episode(rng) -> EpisodeSummary:
    return EpisodeSummary(
        collector_id=rng.choice(["", "arm", "x" * 10_000]),
        origin=rng.choice([0, 1, 200]),
        outcome=rng.choice([0, 1, 2, 3, 255]),
        episode=rng.choice([0, 2**32 - 1]),
        episode_return=rng.choice([0.0, -1.7e308, 1.7e308, float("inf"), float("nan")]),
        success=rng.choice([True, False]),
        deterministic=rng.choice([True, False]),
        domain_names=rng.choice([[], ["a", "a"], [""], ["mass"] * 2_000]),
        domain_values=rng.choice([[], [1.0], [float("nan")] * 2, [1e308]]),
    )


@pytest.mark.launch(fixture=graph)
def test_no_message_however_strange_ends_the_learner(collectors, learner):
    with survived_by(learner, collectors):
        rng = random.Random(0)
        episodes = collectors.probe.node.create_publisher(EpisodeSummary, "target/episodes", qos.EPISODES)
        collectors.probe.spin_until(lambda: episodes.get_subscription_count() == 1)
        for _ in range(150):
            collectors.send(rng.choice(list(Origin)), **hostile_changes(rng))
            episodes.publish(hostile_episode(rng))
        collectors.send(Origin.SOURCE, collector_id="sound source", session=5)
        collectors.send(Origin.TARGET, collector_id="sound target", session=5)
        said = lambda: collectors.status[-1].updates >= 64 and collectors.status[-1].refused_messages > 150  # noqa: E731
        collectors.probe.spin_until(said, hint=lambda: str(collectors.status[-1]))
        assert all(abs(value) < 1e9 for value in collectors.status[-1].metric_values)
