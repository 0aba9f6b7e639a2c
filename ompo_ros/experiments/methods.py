"""The compared methods, each as a few settings of the same learner, and their common protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ompo_ros.experiments.settings import node_settings
from ompo_ros.learning import Config
from ompo_ros.learning.pacing import Pacing

WEIGHTED: Final = {"replay_temper": 0.5}
PLAIN: Final = {"discrepancy": "bound", "replay_temper": 0.0, "target_share": -1.0}  # independent of a run's defaults


@dataclass(frozen=True)
class Method:
    """A method's own settings, and what it learns from: a belief, sources.

    `adapts` is False for the fixed shipped policy, `learns` for fixed networks.
    """

    own: Mapping[str, Any] = field(default_factory=dict)
    belief: bool = False
    sources: bool = True
    adapts: bool = True
    learns: bool = True

    def config(self, task: str = "reach") -> Config:
        """The learner of an adaptation run with the method's own settings."""
        return Config.from_dict({**node_settings("learner", task)["learning"], **PLAIN, **self.own})

    def paced(self, pacing: Pacing) -> Pacing:
        """The protocol's pacing; no warm-up without sources, and neither sources nor updates for fixed networks."""
        if not self.sources:
            pacing = replace(pacing, warmup=0, source_ratio=0.0)
        return pacing if self.learns else replace(pacing, source_ratio=0.0, update_to_data=0.0)


@dataclass(frozen=True)
class Protocol:
    """Common to all methods: data, updates, initial networks, evaluation."""

    update_to_data: float
    source_ratio: float
    warmup: int
    points: tuple[int, ...] = (100, 150, 200, 250, 350, 500, 750, 1000)  # target steps at which policies are evaluated
    reported: tuple[int, ...] = (100, 250, 500, 1000)  # with all episodes; the others only show when 95 % was reached
    episodes: int = 50
    fewer_episodes: int = 25

    @property
    def target_steps(self) -> int:
        return self.points[-1]

    @property
    def pacing(self) -> Pacing:
        return Pacing(self.warmup, self.source_ratio, self.update_to_data, self.target_steps)

    def episodes_at(self, point: int) -> int:
        return self.episodes if point in (0, *self.reported, self.target_steps) else self.fewer_episodes


DRIFTING: Final[Mapping[str, Method]] = {
    "shipped": Method(sources=False, adapts=False),
    "sac": Method({"algorithm": "sac", "setting": "non_stationary"}, sources=False),
    "ompo": Method({"algorithm": "ompo", "setting": "non_stationary"}, sources=False),
    "compensation_alone": Method(belief=True, learns=False),
    "sac_belief": Method({"algorithm": "sac"}, belief=True),
    "ompo_belief": Method({"algorithm": "ompo"}, belief=True),
}
"""Methods for an arm that changes: on its data alone, or with sources from a belief that forgets."""

METHODS: Final[Mapping[str, Method]] = {
    "shipped": Method(adapts=False),
    "ompo": Method({"algorithm": "ompo"}),
    "ompo_paper_sign": Method({"algorithm": "ompo", "discrepancy": "paper"}),
    "ompo_no_r": Method({"algorithm": "ompo", "discrepancy": "none"}),
    "ompo_weighted": Method({"algorithm": "ompo", **WEIGHTED}),
    "ompo_belief": Method({"algorithm": "ompo"}, belief=True),
    "ompo_belief_weighted": Method({"algorithm": "ompo", **WEIGHTED}, belief=True),
    "sac": Method({"algorithm": "sac"}),
    "sac_weighted": Method({"algorithm": "sac", **WEIGHTED}),
    "sac_belief": Method({"algorithm": "sac"}, belief=True),
    "sac_belief_weighted": Method({"algorithm": "sac", **WEIGHTED}, belief=True),
    "wsrl": Method({"algorithm": "sac", "target_share": 1.0}),
    "rlpd": Method({"algorithm": "sac", "target_share": 0.5}),
    "sac_iw": Method({"algorithm": "sac_iw"}),
    "darc": Method({"algorithm": "darc"}),
    "ompo_belief_only_sources": Method({"algorithm": "ompo", "compensate": False}, belief=True),
    "compensation_alone": Method(belief=True, learns=False),
    "belief_alone": Method({"algorithm": "sac", "target_share": 0.0}, belief=True),
}

MAIN: Final = ("shipped", "compensation_alone", "ompo_belief", "sac_belief", "ompo", "sac", "wsrl", "rlpd")
"""The methods that are run with more seeds than the others."""

PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "compensation": ("compensation_alone", "shipped"),
    "learning, compensated": ("ompo_belief", "compensation_alone"),
    "belief and compensation": ("ompo_belief", "ompo"),
    "compensation while learning": ("ompo_belief", "ompo_belief_only_sources"),
    "the target's rows": ("sac_belief", "belief_alone"),
    "OMPO's objective": ("ompo", "sac"),
    "OMPO's objective, with a belief": ("ompo_belief", "sac_belief"),
    "R in the reward": ("ompo", "ompo_no_r"),
    "R's sign": ("ompo", "ompo_paper_sign"),
    "weights exp(R / 2)": ("ompo_weighted", "ompo"),
    "weights exp(R / 2), with a belief": ("ompo_belief_weighted", "ompo_belief"),
}
"""What each part of a method adds: a method with it and one without."""
