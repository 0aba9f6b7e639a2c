"""Both sides of a target collector: the policy server that feeds it, and those who hear what it collects."""

from diagnostic_msgs.msg import DiagnosticArray
from example_policies import make_tensors
from graphs import node
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import EpisodeSummary, PolicyArtifact, TransitionBatch
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROBOT = load_robot("panda")
CONTRACT = Task("reach", "dense").contract


def robot_sim(**parameters):
    return node("robot_sim", simulator="mujoco", **{"domain": "nominal", "real_time_factor": 0.0, **parameters})


def make_artifact(version, contract=CONTRACT):
    tensors = make_tensors(seed=version, obs_dim=contract.observation_size, hidden=16, spread=0.1)
    policy = make_policy(Actor(tensors), contract, version=version, stamp=1.0, training=Training(1, 1))
    return artifact_to_msg(policy.onnx, version=version)


class Ears:
    """What a target collector says, and a way to break its robot."""

    def __init__(self, probe):
        self.probe = probe
        self.batches = probe.listen(TransitionBatch, "/ompo/target/transitions", qos.TRANSITIONS)
        self.episodes = probe.listen(EpisodeSummary, "/ompo/target/episodes", qos.EPISODES)
        self.commands = probe.listen(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", COMMANDS)
        self.reports = probe.listen(DiagnosticArray, "/diagnostics", 10)
        self.states = probe.node.create_publisher(JointState, "/ompo/joint_states", STATES)
        self.policies = probe.node.create_publisher(PolicyArtifact, "/ompo/policy/latest", qos.LATCHED)
        self.version = 0
        self.publish_policy()

    def publish_policy(self, contract=CONTRACT):
        """Let another policy act, and give its version."""
        self.version += 1
        self.policies.publish(make_artifact(self.version, contract))
        return self.version

    def wait_for_batches_of(self, version):
        self.until(lambda: self.batches and self.batches[-1].policy_version[-1] == version)

    def until(self, condition):
        self.probe.spin_until(condition, hint=lambda: f"{len(self.episodes)} episodes, {self.message}")

    @property
    def message(self):
        return self.reports[-1].status[0].message if self.reports else ""

    def begin_anew(self):
        """Forget what was heard, once all of it has come: another policy acts by then."""
        self.wait_for_batches_of(self.publish_policy())
        for heard in (self.batches, self.episodes, self.commands, self.reports):
            heard.clear()

    def outcomes(self):
        return [episode.outcome for episode in self.episodes]


class Evaluator:
    """A client of the action that plays episodes for a policy's evaluation."""

    def __init__(self, ears):
        self.ears, self.feedback = ears, []
        self.client = ActionClient(ears.probe.node, Evaluate, "/ompo/target_collector/evaluate")
        ears.until(self.client.server_is_ready)

    def send(self, **goal):
        future = self.client.send_goal_async(Evaluate.Goal(**goal), feedback_callback=self.feedback.append)
        self.ears.until(future.done)
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.ears.until(future.done)
        return future.result()
