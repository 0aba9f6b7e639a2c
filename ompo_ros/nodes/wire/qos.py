"""The graph's qualities of service."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# A slow receiver makes the sender wait; keep-last would overwrite what was not yet read.
TRANSITIONS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)

EPISODES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)

# For messages that a late subscriber needs at once: weights, policies, status.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
