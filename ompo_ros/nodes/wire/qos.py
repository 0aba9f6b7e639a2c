"""The graph's four qualities of service, each said once."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# A slow receiver makes the sender wait; keep-last would overwrite what was not yet read.
TRANSITIONS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)

EPISODES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)

# For what a late joiner must know at once: weights, policies, status.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
