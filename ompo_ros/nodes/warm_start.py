"""Fills a learner from recordings before it starts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rclpy.node import Node

from ompo_ros.learning import Agent
from ompo_ros.recording import UnusableRecording
from ompo_ros.recording.warm_start import recorded_transitions
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import Origin


def warm_start(node: Node, agent: Agent, contract: Contract, paths: str) -> None:
    """Fill D_G and the normaliser from recordings named in a text; raises UnusableRecording if one cannot be used."""
    log = node.get_logger()
    taken: Counter[Origin] = Counter()
    for transitions in recorded_transitions([Path(path) for path in paths.split(",")], contract, log.warning):
        agent.recall(transitions)
        taken[transitions.origin] += len(transitions)
    if not taken:
        raise UnusableRecording(f"warm_start: {paths} holds no transition")
    log.info(
        f"starting warm with {taken[Origin.TARGET]} recorded steps of targets and {taken[Origin.SOURCE]} of sources"
    )
