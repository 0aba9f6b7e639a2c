"""Words that nodes write and that page, shell and launch read: the same on both sides, and without ROS."""

from __future__ import annotations

from typing import Final

ARM_NODES: Final = ("policy_controller", "target_collector")
CONTROL: Final = ": control"  # ends the name of an arm node's report on /diagnostics
FILTERED: Final = "filtered: "  # begins the figure of a reason for which the safety filter changed proposals
LEARNER_STATES: Final = ("waiting for data", "training", "paused", "finished")  # in the order of LearnerStatus
