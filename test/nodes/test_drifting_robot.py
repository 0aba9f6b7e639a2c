"""A robot that changes under a proven policy: stable falls back to one that still works, improves, and says why."""

import launch_pytest
import pytest
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.msg import ActorWeights, EpisodeSummary, PolicyArtifact
from ompo_msgs.srv import ListPolicies, SetEnabled
from probe import Probe
from shipped_policy import shipped_tensors
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import tensors_to_msgs
from ompo_ros.policy.actor import Actor

EPISODES = 12  # that prove a policy
EXPLORED = 8  # episodes before, for the gate to have observations
CHANGE = EXPLORED + 2 * EPISODES + 4  # of the robot's episodes: when two policies are proven, before a third is
DRIFT = f"drift:\n  action_bias:\n    jumps: {{at: [{CHANGE}], values: [0.0, 0.75]}}\n"


@pytest.fixture
def server(tmp_path):
    return node(
        "policy_server", registry_dir=str(tmp_path / "policies"), evaluation_episodes=EPISODES, evaluation_period=0.0
    )


@launch_pytest.fixture
def graph(ros_domain, tmp_path, server):
    domain = tmp_path / "wearing.yaml"
    domain.write_text(DRIFT)
    return graph_of(
        server,
        node("robot_sim", simulator="mujoco", domain=str(domain), real_time_factor=0.0),
        node("target_collector", lockstep=True, enabled=False, target_steps=50 * EXPLORED),
    )


class Learner(Probe):
    """Publishes actors and follows what becomes of them."""

    def __init__(self) -> None:
        super().__init__(namespace="ompo")
        self.actor = self.node.create_publisher(ActorWeights, "actor", qos.LATCHED)
        self.stable = self.listen(PolicyArtifact, "policy/stable", qos.LATCHED)
        self.episodes = self.listen(EpisodeSummary, "target/episodes", qos.EPISODES)

    def until(self, condition) -> None:
        self.spin_until(condition, lambda: f"stable: {self.versions()}, {len(self.episodes)} episodes")

    def versions(self) -> list[int]:
        return [msg.version for msg in self.stable]

    def publish(self, version: int, shift: float) -> None:
        actor = shipped_tensors(shift)
        tensors, kind = tensors_to_msgs(actor), Actor(actor).shape.architecture
        self.actor.publish(ActorWeights(version=version, architecture=kind, tensors=tensors, obs_dim=20, act_dim=7))

    def policies(self):
        answer = self.call(ListPolicies, "policy_server/list_policies", ListPolicies.Request())
        return {info.version: info for info in answer.policies}


@pytest.fixture
def learner(ros_domain):
    learner = Learner()
    yield learner
    learner.close()


@pytest.mark.launch(fixture=graph)
def test_stable_follows_what_still_works_on_a_changed_robot(learner, server, launch_context):
    learner.until(lambda: learner.actor.get_subscription_count() and learner.node.count_subscribers("target/episodes"))
    learner.publish(1, shift=0.4)  # leans a little against a bias that is not there yet
    learner.until(lambda: 1 in learner.policies())
    learner.call(SetEnabled, "target_collector/set_enabled", SetEnabled.Request(enabled=True))
    learner.until(lambda: learner.versions() == [1])
    learner.publish(2, shift=0.0)  # better, as long as the robot stays as it is
    learner.until(lambda: learner.versions() == [1, 2])

    learner.publish(3, shift=-0.6)  # leans the wrong way; that it seems worse makes the server measure stable anew
    learner.until(lambda: learner.versions() == [1, 2, 1])
    assert process_tools.wait_for_stderr_sync(
        launch_context,
        server,
        lambda text: "evaluating stable 2 again" in text and "stable fell back from 2 to 1: " in text,
        timeout=PATIENCE,
    )
    learner.publish(4, shift=0.8)  # made for the robot as it is now
    learner.until(lambda: learner.versions() == [1, 2, 1, 4])
    assert process_tools.wait_for_stderr_sync(
        launch_context,
        server,
        lambda text: "policy 4 is stable: " in text and "P(success >= stable's" in text,
        timeout=PATIENCE,
    )
    notes = {version: info.note for version, info in learner.policies().items()}
    assert notes[3].startswith("refused: ")
    assert notes[4].startswith("passed: ")
