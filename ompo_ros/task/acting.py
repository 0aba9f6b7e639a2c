"""Policies, episode results and evaluations: types shared by simulators, nodes, gate and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ompo_ros.transitions import Float32Array

MAX_EPISODES: Final = 1_000_000  # of one evaluation


class Policy(Protocol):
    """Chooses actions: an exported policy in its runtime, or a learner's own actor."""

    @property
    def version(self) -> int: ...

    @property
    def sha256(self) -> str:
        """The checksum of its file; empty if it has none."""

    @property
    def rest_action(self) -> Float32Array:
        """The action (7,) that holds the arm still, by what the policy knows of its drives."""

    def act(self, obs: Float32Array) -> Float32Array:
        """Choose the deterministic action."""

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        """Draw an exploring action."""


@dataclass(frozen=True)
class EpisodeResult:
    """The result of one episode, in a simulator or on the arm."""

    steps: int
    episode_return: float
    success: bool
    completed: bool  # False if it was interrupted: it must not be learned from
    deterministic: bool
    policy_version: int  # at the last step; 0 for random actions
    domain_id: int = 0
    domain: tuple[float, ...] = ()  # the dynamics parameters in force; empty if unknown
    stopped: bool = False  # by the arm's safety, in an evaluation: its policy has failed


@dataclass(frozen=True)
class Evaluation:
    """Deterministic episodes of one policy on the target."""

    episodes: int
    successes: int
    mean_return: float

    def __post_init__(self) -> None:
        if not (0 <= self.successes <= self.episodes and 1 <= self.episodes <= MAX_EPISODES):
            raise ValueError(f"{self.successes} successes in {self.episodes} episodes are impossible")

    @property
    def success_rate(self) -> float:
        return self.successes / self.episodes


def count_episodes(episodes: Iterable[tuple[bool, float]]) -> Evaluation | None:
    """Count pairs of success and return; None if there are none."""
    pairs = list(episodes)
    if not pairs:
        return None
    mean = math.fsum(value for _, value in pairs) / len(pairs)
    return Evaluation(len(pairs), sum(success for success, _ in pairs), mean)
