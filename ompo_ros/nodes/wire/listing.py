"""A listed policy as a message, and back."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time
from ompo_msgs.msg import PolicyInfo

from ompo_ros.policy.registry import ListedPolicy


def listed_to_msg(policy: ListedPolicy) -> PolicyInfo:
    """What `~/list_policies` answers of one policy."""
    return PolicyInfo(
        version=policy.version,
        stamp=Time(sec=int(policy.stamp), nanosec=int(policy.stamp % 1 * 1e9)),
        sha256=policy.sha256,
        channels=policy.channels,
        pinned=policy.pinned,
        success_rate=float("nan") if policy.success_rate is None else policy.success_rate,
        evaluated_episodes=policy.episodes,
        note=policy.note,
    )


def listed_from_msg(info: PolicyInfo) -> ListedPolicy:
    """What a shell shows of it."""
    return ListedPolicy(
        version=info.version,
        stamp=info.stamp.sec + 1e-9 * info.stamp.nanosec,
        channels=tuple(info.channels),
        pinned=info.pinned,
        success_rate=None if math.isnan(info.success_rate) else info.success_rate,
        episodes=info.evaluated_episodes,
        sha256=info.sha256,
        note=info.note,
    )
