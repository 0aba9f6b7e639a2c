"""Decides which transition goes to which buffer, and when buffers merge."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ompo_ros.learning.buffers import (
    DEMONSTRATION,
    ORIGIN_FLAGS,
    REVISED,
    TARGET,
    EmptyBuffer,
    Layout,
    Ring,
    pack,
    transition_columns,
)
from ompo_ros.learning.compensation import Compensation
from ompo_ros.learning.config import Config
from ompo_ros.learning.metrics import Reading
from ompo_ros.learning.replay import WeightedDraw, effective_sample_size
from ompo_ros.transitions import InvalidData, Origin, Transitions


class Experience:
    """D_G, D_L and D_0 of algorithm 1, filled according to the setting.

    Stationary and non-stationary: every transition is fresh and enters D_L. Domain adaptation: the target's enter
    D_L, the sources' enter D_G at once. A full D_L is a round: it waits in `round` for the discriminator. Its rows
    join D_G after that (`merge: round`) or at once (`merge: immediate`). With a period, D_L keeps the newest rows and
    a round is a copy of it: the first rounds come early, and later ones hold more than one period. Demonstrations
    enter D_G only: no policy of ours made them.

    Mini-batches are drawn from D_G: uniformly, by weights exp(temper R), or with a fixed share of the target's rows. A
    share of demonstrations comes before all of these.
    """

    def __init__(self, config: Config, layout: Layout, device: torch.device) -> None:
        self.layout = layout
        self.compensation = Compensation(layout.act_dim, device)
        self.batch_size = config.batch_size
        columns = transition_columns(layout)
        self.global_ = Ring("D_G", columns, config.global_capacity, device)
        self.local = Ring("D_L", columns, config.local_capacity, device)
        self.round = Ring("the round of D_L", columns, config.local_capacity, device)
        self.initial = Ring("D_0", {"obs": (layout.obs_dim, torch.float32)}, config.initial_capacity, device)
        self.round_waits = False
        self.rounds_skipped = 0
        self.unrated = 0  # newest rows of D_G whose R is not the discriminator's latest
        self.seen = dict.fromkeys(Origin, 0)
        self.recalled = 0  # target transitions of earlier runs, which updates are due for as well
        self.since_round = 0  # fresh transitions since the last round, if `round_period` is set
        self._period = config.round_period
        self._all_fresh = config.setting != "domain_adaptation"
        # Only OMPO distinguishes fresh from old transitions; the others learn from all of them at once.
        self._immediate = config.merge == "immediate" or config.algorithm != "ompo"
        self.initial_from_target = False
        self._rows_of: dict[Origin, Tensor] = {}
        self._target_share = config.target_share
        self._demonstration_share = config.demonstration_share
        self._weighted = (
            WeightedDraw(config.global_capacity, config.replay_temper, device) if config.replay_temper > 0.0 else None
        )

    def rings(self) -> dict[str, Ring]:
        return {"global": self.global_, "local": self.local, "round": self.round, "initial": self.initial}

    def add(self, transitions: Transitions) -> None:
        """Add a whole batch, or raise InvalidData and add nothing."""
        self._check(transitions)
        fresh = transitions.origin is Origin.TARGET or (self._all_fresh and transitions.origin is Origin.SOURCE)
        rows = self._packed(transitions, revised=transitions.origin is not Origin.SOURCE)
        self.seen[transitions.origin] += len(transitions)
        self._add_initial(transitions.obs[transitions.step == 0], fresh)
        if not fresh or self._immediate:
            self._add_global(rows)
        if fresh:
            self._add_fresh(rows)

    def recall(self, transitions: Transitions) -> None:
        """Add recorded transitions to D_G; they are old data, whatever their origin, and no steps of this run."""
        self._check(transitions)
        self._add_initial(transitions.obs[transitions.step == 0], fresh=False)
        self._add_global(self._packed(transitions, revised=True))
        if transitions.origin is Origin.TARGET:
            self.recalled += len(transitions)

    def compensate(self, gain: ArrayLike, bias: ArrayLike) -> None:
        """Know the drives better: revise what reached the target's joints; sources had the drives of their time."""
        before = Compensation(self.layout.act_dim, self.global_.columns["row"].device)
        before.set(self.compensation.gain, self.compensation.bias)
        self.compensation.set(gain, bias)
        for ring in (self.global_, self.local, self.round):
            rows = ring.used()
            places = torch.nonzero(rows["flags"] & REVISED)[:, 0]
            actions = self.layout.action(rows["row"])
            actions[places] = self.compensation.effective_(before.sent_before_(actions[places]))

    def _packed(self, transitions: Transitions, *, revised: bool) -> dict[str, Tensor]:
        rows = pack(transitions, self.layout)
        self.compensation.effective_(self.layout.action(rows["row"]))
        rows["flags"] |= REVISED if revised else 0
        return rows

    def _check(self, transitions: Transitions) -> None:
        if transitions.obs_dim != self.layout.obs_dim:
            raise InvalidData("obs", f"has {transitions.obs_dim} dimensions, {self.layout.obs_dim} are needed")
        if transitions.act_dim != self.layout.act_dim:
            raise InvalidData("action", f"has {transitions.act_dim} dimensions, {self.layout.act_dim} are needed")
        if np.abs(transitions.action).max() > 1.0 + 1e-6:
            raise InvalidData("action", "leaves [-1, 1], the range of the policy: scale actions to it")

    def _add_initial(self, obs: np.ndarray[tuple[int, ...], np.dtype[np.float32]], fresh: bool) -> None:
        """Keep the target's initial states; until there is one, use the sources'."""
        if len(obs) == 0 or (self.initial_from_target and not fresh):
            return
        if fresh and not self.initial_from_target:
            self.initial.clear()
            self.initial_from_target = True
        self.initial.add({"obs": torch.from_numpy(obs)})

    def _add_global(self, rows: dict[str, Tensor]) -> None:
        self.global_.add(rows)
        self.unrated = min(self.unrated + len(rows["row"]), self.global_.size)
        self.forget_places()
        for piece in self.global_.newest(len(rows["row"])):
            self._weigh(piece)

    def _weigh(self, piece: slice) -> None:
        """Update the sampling weights of these rows of D_G."""
        if self._weighted is not None and piece.stop > piece.start:
            log_ratio = self.layout.log_ratio(self.global_.columns["row"][piece])
            self._weighted.update(piece.start, log_ratio, self.global_.size)

    def _add_fresh(self, rows: dict[str, Tensor]) -> None:
        count, start = len(rows["row"]), 0
        if self._period > 0:
            self.local.add(rows)
            self.since_round += count
            if self.since_round >= self._period:
                self._copy_round()
            return
        while start < count:
            stop = min(count, start + self.local.capacity - self.local.size)
            self.local.add({name: column[start:stop] for name, column in rows.items()})
            start = stop
            if self.local.full:
                self._close_round()

    def _close_round(self) -> None:
        """Make the full D_L the waiting round and start an empty one; an unused round is merged without training."""
        if self.round_waits:
            self.rounds_skipped += 1
            self.finish_round()
        self.round, self.local = self.local, self.round
        self.local.clear()
        self.round_waits = True

    def _copy_round(self) -> None:
        """Copy D_L into the waiting round, oldest first."""
        self.since_round = 0
        self.rounds_skipped += self.round_waits
        self.round.clear()
        for piece in self.local.newest(self.local.size):
            self.round.add({name: column[piece] for name, column in self.local.columns.items()})
        self.round_waits = True

    def finish_round(self) -> None:
        """Merge D_G with D_L; its rows stay readable until the next round, for the metrics."""
        if not self._immediate:
            self._add_global(self.round.used())
        self.round_waits = False

    @property
    def has_history(self) -> bool:
        """Whether D_G holds more than the fresh transitions."""
        if not self._immediate:
            return self.global_.size > 0
        return self.global_.size > self.local.size + (0 if self._period > 0 else self.round.size)

    def first_unrated(self, limit: int) -> slice:
        """Locate the oldest rows of D_G whose R is not the discriminator's latest."""
        piece = next(self.global_.newest(self.unrated))
        return slice(piece.start, min(piece.stop, piece.start + limit))

    def rated(self, piece: slice) -> None:
        """Mark the oldest unrated rows as rated."""
        self.unrated -= piece.stop - piece.start
        self._weigh(piece)

    def forget_ratings(self) -> None:
        """Reset every R to zero until it is rated again, because its discriminator was not finite."""
        self.layout.log_ratio(self.global_.used()["row"]).zero_()
        self.unrated = self.global_.size
        self.weigh_all()

    def forget_places(self) -> None:
        """Drop the cached rows of all origins; call after any change of D_G."""
        self._rows_of.clear()

    def weigh_all(self) -> None:
        """Recompute the sampling weights of all of D_G."""
        self._weigh(slice(0, self.global_.size))

    @property
    def can_sample(self) -> bool:
        """Whether D_G holds every origin that mini-batches need, or, if any will do, the next update merges a round."""
        if self._target_share < 0.0:
            return self.global_.size > 0 or self.round_waits
        shares = {Origin.TARGET: self._target_share, Origin.SOURCE: 1.0 - self._target_share}
        return all(len(self.places(origin)) > 0 for origin, share in shares.items() if share > 0.0)

    def sample_into(self, out: Tensor, rng: torch.Generator) -> Tensor:
        """Fill `out` with rows of D_G; while it holds no demonstration, their share goes to the others."""
        demonstrated = round(self._demonstration_share * len(out))
        if demonstrated and len(self.places(Origin.DEMONSTRATION)) > 0:
            self.sample_origin_into(out[:demonstrated], Origin.DEMONSTRATION, rng)
            self._sample_by_rule_into(out[demonstrated:], rng)
            return out
        return self._sample_by_rule_into(out, rng)

    def _sample_by_rule_into(self, out: Tensor, rng: torch.Generator) -> Tensor:
        """Fill `out` with rows of D_G: by weights, uniformly or by shares of target and sources."""
        if self._weighted is not None:
            drawn = self._weighted.draw(len(out), self.global_.size, rng)
            return torch.index_select(self.global_.columns["row"], 0, drawn, out=out)
        if self._target_share < 0.0:
            return self.global_.sample_into(out, "row", rng)
        targets = round(self._target_share * len(out))
        for origin, part in ((Origin.TARGET, out[:targets]), (Origin.SOURCE, out[targets:])):
            if len(part) > 0:
                self.sample_origin_into(part, origin, rng)
        return out

    def sample_initial_into(self, out: Tensor, rng: torch.Generator) -> Tensor:
        if self.initial.size == 0:
            raise EmptyBuffer("D_0 is empty: no transition with step 0 was observed")
        return self.initial.sample_into(out, "obs", rng)

    def sample_origin_into(self, out: Tensor, origin: Origin, rng: torch.Generator) -> Tensor:
        """Sample D_G's transitions of one origin."""
        places = self.places(origin)
        if len(places) == 0:
            raise EmptyBuffer(f"D_G holds no transition of the {origin.name.lower()}: observe some first")
        drawn = torch.randint(len(places), (len(out),), generator=rng, device=rng.device)
        return torch.index_select(self.global_.columns["row"], 0, places[drawn], out=out)

    def places(self, origin: Origin) -> Tensor:
        """Rows of D_G of one origin, looked up once per insertion."""
        if origin not in self._rows_of:
            made_by = self.global_.used()["flags"] & (TARGET | DEMONSTRATION)
            self._rows_of[origin] = torch.nonzero(made_by == ORIGIN_FLAGS[origin])[:, 0]
        return self._rows_of[origin]

    def replay_readings(self) -> dict[str, Reading]:
        """Effect of the weights: mean relative weight of each origin's rows, and the effective share of D_G."""
        weighted = self._weighted
        if weighted is None:
            return {}

        def relative() -> Tensor:
            weights = weighted.weights(self.layout.log_ratio(self.global_.used()["row"]))
            return weights / weights.mean()

        def of(origin: Origin) -> Tensor:
            places = self.places(origin)
            return relative()[places].mean() if len(places) else torch.zeros(())

        return {
            "replay_weight_source": lambda: of(Origin.SOURCE),
            "replay_weight_target": lambda: of(Origin.TARGET),
            "replay_ess": lambda: effective_sample_size(relative()),
        }
