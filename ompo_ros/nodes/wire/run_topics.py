"""The topics of a run, with the qualities of service of a node that only listens."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import (
    ArmBelief,
    EpisodeSummary,
    LearnerStatus,
    PolicyArtifact,
    RunEnded,
    TransitionBatch,
)
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from ompo_ros.nodes.wire import goal
from ompo_ros.nodes.wire.robot_topics import command_type, topic_in
from ompo_ros.task.robot import Robot

DIAGNOSTICS: Final = "/diagnostics"
_LATCHED_TYPES: Final = (ArmBelief, LearnerStatus, PolicyArtifact, RunEnded)
_DEPTH: Final = 2000  # messages queued while the listener is busy; then the oldest is dropped, and no sender waits

# With keep-last no sender waits for the listener, and nothing is lost while the listener keeps up.
_RELIABLE = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.RELIABLE)
# An acknowledged command means that the driver has it, so a listener must not acknowledge any.
_BEST_EFFORT = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
_LATCHED = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class RunTopic(NamedTuple):
    """A topic, its message type and how to subscribe to it."""

    name: str
    type: type[Any]
    qos: QoSProfile


def run_topics(robot: Robot, robot_namespace: str) -> list[RunTopic]:
    """Every topic of a run on this robot."""
    return [
        RunTopic("source/transitions", TransitionBatch, _RELIABLE),
        RunTopic("target/transitions", TransitionBatch, _RELIABLE),
        RunTopic("demonstration/transitions", TransitionBatch, _RELIABLE),
        RunTopic("source/episodes", EpisodeSummary, _RELIABLE),
        RunTopic("target/episodes", EpisodeSummary, _RELIABLE),
        RunTopic(goal.TOPIC, PointStamped, _LATCHED),
        RunTopic("status", LearnerStatus, _LATCHED),
        RunTopic("belief", ArmBelief, _LATCHED),
        RunTopic("policy/latest", PolicyArtifact, _LATCHED),
        RunTopic("policy/stable", PolicyArtifact, _LATCHED),
        RunTopic("run/ended", RunEnded, _LATCHED),
        RunTopic(DIAGNOSTICS, DiagnosticArray, _BEST_EFFORT),
        RunTopic(topic_in(robot_namespace, robot.driver.state_topic), JointState, _BEST_EFFORT),
        RunTopic(topic_in(robot_namespace, robot.driver.command_topic), command_type(robot), _BEST_EFFORT),
        RunTopic(topic_in(robot_namespace, "cube"), PointStamped, _BEST_EFFORT),
    ]


def kind_of(message: type[Any]) -> str:
    """A message class by its ROS name, such as sensor_msgs/msg/JointState."""
    return f"{message.__module__.split('.')[0]}/msg/{message.__name__}"


def is_latched(topic: str, kind: str) -> bool:
    """Whether who joins a run late gets the last message of a topic."""
    return kind in map(kind_of, _LATCHED_TYPES) or topic.endswith(f"/{goal.TOPIC}")
