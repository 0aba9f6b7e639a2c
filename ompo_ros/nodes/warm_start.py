"""Fills a learner from recordings before it starts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rclpy.node import Node

from ompo_ros.learning import Agent
from ompo_ros.nodes.wire.process import may_take_long
from ompo_ros.recording import UnusableRecording
from ompo_ros.recording.warm_start import recorded_demonstrations, recorded_transitions
from ompo_ros.task.contract import Contract
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin


def warm_start(node: Node, agent: Agent, contract: Contract, paths: str) -> None:
    """Fill D_G and the normaliser from recordings named in a text; raises UnusableRecording if one cannot be used."""
    may_take_long()
    log = node.get_logger()
    taken: Counter[Origin] = Counter()
    for transitions in recorded_transitions(_split(paths), contract, log.warning):
        agent.recall(transitions)
        taken[transitions.origin] += len(transitions)
    if not taken:
        raise UnusableRecording(f"warm_start: {paths} holds no transition")
    log.info(
        f"starting warm with {taken[Origin.TARGET]} recorded steps of targets, {taken[Origin.SOURCE]} of sources and "
        f"{taken[Origin.DEMONSTRATION]} demonstrated ones"
    )


def recall_demonstrations(node: Node, agent: Agent, task: Task, contract: Contract, paths: str) -> None:
    """Give the learner the successful episodes of recordings named in a text; raises UnusableRecording without any."""
    may_take_long()
    log, steps = node.get_logger(), 0
    for transitions in recorded_demonstrations(_split(paths), task, contract, log.warning):
        agent.recall(transitions)
        steps += len(transitions)
    if not steps:
        raise UnusableRecording(f"demonstrations: {paths} holds no successful episode of an arm")
    log.info(f"starting with {steps} demonstrated steps")
    if not agent.config.demonstration_share:
        log.warning("demonstrations have no share of their own in mini-batches: learning.demonstration_share is 0")


def _split(paths: str) -> list[Path]:
    return [Path(path) for path in paths.split(",")]
