"""The policy server as a launch file starts it, with a learner's and a target collector's side played by the test."""

import os
import signal
from pathlib import Path

import launch
import launch_pytest
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from example_policies import make_tensors
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import ActorWeights, EpisodeSummary, PolicyArtifact, TransitionBatch
from ompo_msgs.srv import Act, ActivatePolicy, GetPolicy, JudgePolicy, ListPolicies
from probe import Probe
from rclpy.action import ActionServer
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import tensors_to_msgs, transitions_to_msg
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy, read_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import STABLE
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions

CONTRACT = Task("reach", "dense").contract
EPISODES = 10
FULL = Path("/dev/full")  # every write to it fails as on a full disk
REFUSALS_SAID = 20


@pytest.fixture
def parameters(tmp_path):
    return {"registry_dir": str(tmp_path / "policies"), "evaluation_episodes": EPISODES, "evaluation_period": 0.0}


@pytest.fixture
def server(parameters):
    return node("policy_server", **parameters)


@launch_pytest.fixture
def graph(ros_domain, server):
    return graph_of(server)


def smooth(seed: int) -> dict[str, np.ndarray]:
    """An actor that passes the gate."""
    return make_tensors(seed=seed, spread=0.05)


def weights(version: int, **changes) -> ActorWeights:
    fields = {
        "architecture": "elu",
        "tensors": tensors_to_msgs(smooth(version)),
        "obs_dim": 20,
        "act_dim": 7,
    }
    return ActorWeights(version=version, updates=version, target_steps=version, **{**fields, **changes})


def some_transitions() -> TransitionBatch:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(9, 20)).astype(np.float32)
    zeros = np.zeros(8, np.uint32)
    transitions = Transitions(
        origin=Origin.TARGET,
        obs=obs[:-1],
        action=np.zeros((8, 7), np.float32),
        reward=np.zeros(8, np.float32),
        next_obs=obs[1:],
        terminated=zeros.astype(bool),
        truncated=zeros.astype(bool),
        step=zeros,
        policy_version=zeros,
        domain_id=zeros,
    )
    return transitions_to_msg(transitions, collector_id="test", session=1, sequence=0, stamp=Time())


def episode(version: int, success: bool) -> EpisodeSummary:
    return EpisodeSummary(
        collector_id="test",
        origin=EpisodeSummary.TARGET,
        outcome=EpisodeSummary.TRUNCATED,
        success=success,
        deterministic=True,
        policy_version=version,
    )


class World(Probe):
    """The learner, the target collector and a user, in the test's own process."""

    def __init__(self) -> None:
        super().__init__(namespace="ompo")
        self.actor = self.node.create_publisher(ActorWeights, "actor", qos.LATCHED)
        self.transitions = self.node.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
        self.episodes = self.node.create_publisher(EpisodeSummary, "target/episodes", qos.EPISODES)
        self.seen: dict[str, list[PolicyArtifact]] = {"latest": [], "stable": []}
        self.successes: dict[int, int] = {}  # of EPISODES, by version
        self.evaluated: list[int] = []
        self.before_evaluation = lambda: None

    def listen_to_channels(self) -> None:
        for channel, seen in self.seen.items():
            self.node.create_subscription(PolicyArtifact, f"policy/{channel}", seen.append, qos.LATCHED)

    def collect_on_target(self) -> None:
        """Publish transitions like a collector, again and again, and answer evaluations."""
        self.node.create_timer(0.2, lambda: self.transitions.publish(some_transitions()))
        self.evaluator = ActionServer(self.node, Evaluate, "target_collector/evaluate", self._evaluate)

    def _evaluate(self, goal) -> Evaluate.Result:
        version = goal.request.policy_version
        self.before_evaluation()
        self.evaluated.append(version)
        wins = self.successes[version]
        goal.succeed()
        played = [episode(version, i < wins) for i in range(goal.request.episodes)]
        return Evaluate.Result(success=True, episodes=played, success_rate=wins / EPISODES)

    def versions(self, channel: str) -> list[int]:
        return [msg.version for msg in self.seen[channel]]

    def spin_until(self, condition, hint=None) -> None:
        super().spin_until(condition, hint or (lambda: str({name: self.versions(name) for name in self.seen})))

    def wait_for_server(self) -> None:
        publishers = (self.actor, self.transitions, self.episodes)
        self.spin_until(lambda: all(publisher.get_subscription_count() for publisher in publishers))

    def ask(self, kind, name, **request):
        return self.call(kind, f"policy_server/{name}", kind.Request(**request))


@pytest.fixture
def world(ros_domain):
    world = World()
    yield world
    world.close()


@pytest.mark.launch(fixture=graph)
def test_weights_become_a_latched_policy_that_services_hand_out(world, server, launch_context):
    world.wait_for_server()
    wrong = weights(1, architecture="mystery"), weights(2, tensors=tensors_to_msgs(smooth(2))[1:])
    for n, msg in enumerate(wrong, 1):  # one by one: only the newest weights are kept for the server
        world.actor.publish(msg)
        told = f"refused weights {n} ({n} refused"
        assert process_tools.wait_for_stderr_sync(
            launch_context, server, lambda text, told=told: told in text, PATIENCE
        )
    world.actor.publish(weights(3))
    world.spin_until(lambda: [info.version for info in world.ask(ListPolicies, "list_policies").policies] == [3])
    world.listen_to_channels()
    world.spin_until(lambda: world.versions("latest") == [3])
    onnx = bytes(world.seen["latest"][0].onnx)
    assert read_policy(onnx).manifest.training == Training(3, 3)
    obs = np.linspace(-1, 1, 20, dtype=np.float32)
    action, _, _ = Actor(smooth(3)).forward(obs)
    np.testing.assert_allclose(PolicyRuntime(onnx, CONTRACT).act(obs), action, atol=1e-5)

    answer = world.ask(Act, "act", channel="latest", obs=obs.tobytes(), deterministic=True)
    assert (answer.success, answer.version) == (True, 3), answer.message
    np.testing.assert_allclose(np.frombuffer(answer.action, np.float32), action, atol=1e-5)
    sampled = world.ask(Act, "act", channel="latest", obs=obs.tobytes(), deterministic=False)
    assert np.abs(np.frombuffer(sampled.action, np.float32) - action).max() > 1e-3
    assert "no policy" in world.ask(Act, "act", obs=obs.tobytes()).message
    assert "shape" in world.ask(Act, "act", channel="latest", obs=obs[:3].tobytes()).message
    assert world.ask(GetPolicy, "get_policy", version=3).policy.sha256 == world.seen["latest"][0].sha256
    assert "it holds: 3" in world.ask(GetPolicy, "get_policy", version=9).message
    assert "unknown" in world.ask(ActivatePolicy, "activate_policy", version=3, channel="best").message

    evaluation = {"version": 3, "episodes": 40, "successes": 39, "mean_return": -2.0}
    foreign = world.ask(JudgePolicy, "judge_policy", run_id="another", **evaluation)
    assert (foreign.success, "of run 'another'" in foreign.message) == (False, True)
    impossible = world.ask(JudgePolicy, "judge_policy", **{**evaluation, "successes": 41})
    assert (impossible.success, "impossible" in impossible.message) == (False, True)
    judged = world.ask(JudgePolicy, "judge_policy", **evaluation)
    assert (judged.success, judged.stable) == (True, True), judged.message
    world.spin_until(lambda: world.versions("stable") == [3])
    assert read_policy(bytes(world.seen["stable"][0].onnx)).manifest.evaluation.successes == 39


@pytest.mark.launch(fixture=graph)
def test_a_bad_policy_reaches_latest_and_never_stable(world, server, launch_context):
    world.successes = {1: EPISODES, 2: 0, 3: EPISODES}
    world.collect_on_target()
    world.listen_to_channels()
    world.wait_for_server()
    world.actor.publish(weights(1))
    world.spin_until(lambda: world.versions("stable") == [1])
    assert read_policy(bytes(world.seen["stable"][0].onnx)).manifest.evaluation.successes == EPISODES
    world.actor.publish(weights(2))
    # The second look at stable tells that it is not the robot that changed.
    world.spin_until(lambda: world.evaluated == [1, 2, 1])
    world.actor.publish(weights(3))
    world.spin_until(lambda: world.versions("stable")[-1:] == [3])
    assert world.versions("latest") == [1, 2, 3]
    assert world.versions("stable") == [1, 3]
    bad = {info.version: info for info in world.ask(ListPolicies, "list_policies").policies}[2]
    assert (bad.success_rate, bad.evaluated_episodes) == (0.0, EPISODES)
    assert f"refused: 0/{EPISODES} episodes succeed, stable's {EPISODES}/{EPISODES}" in bad.note


@pytest.mark.launch(fixture=graph)
def test_stable_falls_back_when_the_robot_says_so_and_a_user_can_hold_it(world, server, launch_context):
    world.successes = {1: EPISODES, 2: EPISODES}
    world.collect_on_target()
    world.listen_to_channels()
    world.wait_for_server()
    for version in (1, 2):
        world.actor.publish(weights(version))
        world.spin_until(lambda version=version: world.versions("stable")[-1:] == [version])
    for _ in range(6):
        world.episodes.publish(episode(2, success=False))
    world.spin_until(lambda: world.versions("stable") == [1, 2, 1])
    assert process_tools.wait_for_stderr_sync(
        launch_context, server, lambda text: "stable fell back from 2 to 1: 0/" in text, timeout=PATIENCE
    )
    answer = world.ask(ActivatePolicy, "activate_policy", version=2, channel="stable", pin=True, reason="to look at it")
    assert (answer.success, answer.previous_version) == (True, 1)
    world.spin_until(lambda: world.versions("stable") == [1, 2, 1, 2])
    for _ in range(6):
        world.episodes.publish(episode(2, success=False))
    world.actor.publish(weights(3))
    world.spin_until(lambda: world.versions("latest")[-1] == 3)
    policies = {info.version: info for info in world.ask(ListPolicies, "list_policies").policies}
    assert policies[2].pinned
    assert policies[2].channels == ["stable"]
    assert world.versions("stable") == [1, 2, 1, 2]


@launch_pytest.fixture
def restarted(ros_domain, server, parameters):
    again = node("policy_server", **parameters)
    on_exit = launch.event_handlers.OnProcessExit(target_action=server, on_exit=[again])
    return graph_of(server, launch.actions.RegisterEventHandler(on_exit))


@pytest.mark.launch(fixture=restarted)
def test_a_killed_server_comes_back_with_what_was_active(world, server):
    world.wait_for_server()
    world.actor.publish(weights(1))
    world.spin_until(lambda: [info.version for info in world.ask(ListPolicies, "list_policies").policies] == [1])
    world.ask(ActivatePolicy, "activate_policy", version=1, channel="stable")
    world.node.destroy_publisher(world.actor)  # so that only the registry can tell
    os.kill(server.process_details["pid"], signal.SIGKILL)
    world.listen_to_channels()
    world.spin_until(lambda: world.versions("stable")[-1:] == [1] and world.versions("latest")[-1:] == [1])


@pytest.fixture(params=["other files", "a stable policy that cannot be read"])
def unusable(request, tmp_path):
    """A folder that is no registry, or one that cannot be served now; with what the server says of it."""
    folder = tmp_path / "policies"
    if request.param == "other files":
        folder.mkdir()
        (folder / "notes.txt").touch()
        return folder, "choose an empty or a new folder"
    registry = Registry(folder)
    training = Training(1, 1)
    policy = make_policy(Actor(smooth(1)), CONTRACT, version=1, stamp=1.0, training=training)
    registry.add(policy, "proven", channel=STABLE)
    registry.close()
    (file,) = (folder / "policies").iterdir()
    file.unlink()
    file.symlink_to(file.name)
    return folder, "policy 1 cannot be read now"


def test_a_folder_that_cannot_be_served_is_refused_and_left_as_it_is(make, unusable):
    folder, said = unusable
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*") if path.name != "lock"}
    with pytest.raises(ValueError, match=said):
        make("policy_server", registry_dir=folder)
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*") if path.name != "lock"} == before


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device here that is always full")
@pytest.mark.launch(fixture=graph)
def test_a_full_disk_costs_one_policy_and_no_more(world, server, launch_context, parameters):
    world.wait_for_server()
    world.listen_to_channels()
    world.actor.publish(weights(1))
    world.spin_until(lambda: world.versions("latest") == [1])
    folder = Path(parameters["registry_dir"])
    (folder / ".registry.json.unfinished").symlink_to(FULL)
    world.actor.publish(weights(2))
    assert process_tools.wait_for_stderr_sync(
        launch_context, server, lambda text: "refused weights 2 (1 refused so far): [Errno 28] No space" in text, 20
    )
    assert world.ask(GetPolicy, "get_policy", channel="latest").policy.version == 1
    assert len(list((folder / "policies").iterdir())) == 1
    world.actor.publish(weights(3))
    world.spin_until(lambda: world.versions("latest") == [1, 3])


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device here that is always full")
@pytest.mark.launch(fixture=graph)
def test_a_candidate_whose_evaluation_cannot_be_written_is_evaluated_again(world, server, parameters):
    def fill_the_disk() -> None:
        if not world.evaluated:
            Path(parameters["registry_dir"], ".registry.json.unfinished").symlink_to(FULL)

    world.before_evaluation = fill_the_disk
    world.successes = {1: EPISODES}
    world.collect_on_target()
    world.listen_to_channels()
    world.wait_for_server()
    world.actor.publish(weights(1))
    world.spin_until(lambda: world.versions("stable") == [1])
    assert world.evaluated == [1, 1]


@pytest.mark.launch(fixture=graph)
def test_what_senders_write_is_cut_made_plain_and_not_logged_without_end(world, server, launch_context):
    world.wait_for_server()
    named = tensors_to_msgs({**smooth(1), "\x1b[2J": np.zeros(1, np.float32)})
    world.actor.publish(weights(1, tensors=named))
    assert process_tools.wait_for_stderr_sync(launch_context, server, lambda text: "refused weights 1" in text, 20)
    for _ in range(2 * REFUSALS_SAID):
        world.episodes.publish(EpisodeSummary(collector_id="x" * 100_000))
    last = f"({REFUSALS_SAID} refused so far)"
    assert process_tools.wait_for_stderr_sync(launch_context, server, lambda text: last in text, 20)
    for _ in range(2 * REFUSALS_SAID):  # each call lets the server take in one more episode
        world.ask(ListPolicies, "list_policies")
    logged: list[str] = []
    process_tools.wait_for_stderr_sync(launch_context, server, lambda text: logged.append(text) or True, 5)
    assert "\x1b" not in logged[-1]
    assert logged[-1].count("refused so far") == REFUSALS_SAID
    assert len(logged[-1]) < 1_000 * REFUSALS_SAID


@pytest.mark.launch(fixture=graph)
def test_act_follows_a_version_that_was_learned_again_and_the_server_ends_cleanly(world, server):
    world.wait_for_server()
    world.listen_to_channels()
    obs = np.linspace(-1, 1, 20, dtype=np.float32)
    for n, seed in enumerate((1, 2), 1):
        world.actor.publish(weights(1, tensors=tensors_to_msgs(smooth(seed))))
        world.spin_until(lambda n=n: len(world.seen["latest"]) == n)
        answer = world.ask(Act, "act", channel="latest", obs=obs.tobytes(), deterministic=True)
        action, _, _ = Actor(smooth(seed)).forward(obs)
        np.testing.assert_allclose(np.frombuffer(answer.action, np.float32), action, atol=1e-5)
    yield
    assert server.return_code == 0
