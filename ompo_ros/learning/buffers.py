"""Contiguous rings of rows, allocated once: the memory under D_G, D_L and D_0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ompo_ros.transitions import Origin, Transitions

TERMINATED, TRUNCATED, TARGET, DEMONSTRATION = 1, 2, 4, 8
REVISED = 16  # what reached the joints is revised with every belief
ORIGIN_FLAGS = {Origin.SOURCE: 0, Origin.TARGET: TARGET, Origin.DEMONSTRATION: DEMONSTRATION}


class EmptyBuffer(RuntimeError):
    """A sample was requested from an empty buffer; the message says what fills it."""


class Layout(NamedTuple):
    """The columns of a transition's row: `obs | action | next_obs | reward | continues | log_ratio`.

    The order makes (s, a) and (s, a, s') plain slices, so that no network's input has to be assembled. R of a stored
    transition changes only when the discriminator learns, so it is stored in the row.
    """

    obs_dim: int
    act_dim: int

    @property
    def width(self) -> int:
        return 2 * self.obs_dim + self.act_dim + 3

    def obs(self, rows: Tensor) -> Tensor:
        return rows[:, : self.obs_dim]

    def action(self, rows: Tensor) -> Tensor:
        return rows[:, self.obs_dim : self.obs_dim + self.act_dim]

    def obs_action(self, rows: Tensor) -> Tensor:
        return rows[:, : self.obs_dim + self.act_dim]

    def next_obs(self, rows: Tensor) -> Tensor:
        return rows[:, self.obs_dim + self.act_dim : -3]

    def transition(self, rows: Tensor) -> Tensor:
        return rows[:, :-3]

    def reward(self, rows: Tensor) -> Tensor:
        return rows[:, -3]

    def continues(self, rows: Tensor) -> Tensor:
        """Zero where the task itself ended; a truncated episode still has a value beyond."""
        return rows[:, -2]

    def log_ratio(self, rows: Tensor) -> Tensor:
        """R as the discriminator last rated it."""
        return rows[:, -1]


class Ring:
    """Named columns of `capacity` rows; the newest rows replace the oldest.

    The memory is reserved once; the system commits a page when it is first written.
    """

    def __init__(
        self, name: str, columns: Mapping[str, tuple[int, torch.dtype]], capacity: int, device: torch.device
    ) -> None:
        self.name = name
        self.capacity = capacity
        self.columns = {
            column: torch.empty((capacity, width) if width else (capacity,), dtype=dtype, device=device)
            for column, (width, dtype) in columns.items()
        }
        self.size = 0
        self.cursor = 0
        self.added = 0  # in total, including replaced rows

    @property
    def full(self) -> bool:
        return self.size == self.capacity

    @property
    def nbytes(self) -> int:
        return sum(column.numel() * column.element_size() for column in self.columns.values())

    def add(self, rows: Mapping[str, Tensor]) -> None:
        """Write all rows in at most two copies per column; if they exceed the capacity, the newest stay."""
        count = len(next(iter(rows.values())))
        kept = min(count, self.capacity)
        first = min(kept, self.capacity - self.cursor)
        for name, column in self.columns.items():
            new = rows[name][count - kept :]
            column[self.cursor : self.cursor + first].copy_(new[:first])
            column[: kept - first].copy_(new[first:])
        self.cursor = (self.cursor + kept) % self.capacity
        self.size = min(self.size + kept, self.capacity)
        self.added += count

    def used(self) -> dict[str, Tensor]:
        """The stored rows as views, in memory order."""
        return {name: column[: self.size] for name, column in self.columns.items()}

    def newest(self, count: int) -> Iterator[slice]:
        """Locate the newest rows, oldest first: in one piece or, around the end, in two."""
        count = min(count, self.size)
        start = self.cursor - count
        if start < 0:
            yield slice(start + self.capacity, self.capacity)
        if self.cursor > 0:
            yield slice(max(start, 0), self.cursor)

    def clear(self) -> None:
        self.size = self.cursor = 0

    def draw(self, count: int, rng: torch.Generator) -> Tensor:
        """Draw row numbers uniformly, with replacement, so that any count can be drawn of any size."""
        if self.size == 0:
            raise EmptyBuffer(f"{self.name} is empty: observe transitions first")
        return torch.randint(self.size, (count,), generator=rng, device=rng.device)

    def sample_into(self, out: Tensor, column: str, rng: torch.Generator) -> Tensor:
        """Fill `out` with uniformly drawn rows: one gather, no allocation but the indices."""
        return torch.index_select(self.columns[column], 0, self.draw(len(out), rng), out=out)


def transition_columns(layout: Layout) -> dict[str, tuple[int, torch.dtype]]:
    """The columns of a transition: its row and its origin."""
    return {
        "row": (layout.width, torch.float32),
        "flags": (0, torch.uint8),
        "policy_version": (0, torch.int32),  # the bits of an unsigned number
        "domain_id": (0, torch.int32),
    }


def pack(transitions: Transitions, layout: Layout) -> dict[str, Tensor]:
    """Convert a checked batch to a ring's rows."""
    row = np.empty((len(transitions), layout.width), np.float32)
    row[:, : layout.obs_dim] = transitions.obs
    row[:, layout.obs_dim : layout.obs_dim + layout.act_dim] = transitions.action
    row[:, layout.obs_dim + layout.act_dim : -3] = transitions.next_obs
    row[:, -3] = transitions.reward
    row[:, -2] = ~transitions.terminated
    row[:, -1] = 0.0
    flags = transitions.terminated * np.uint8(TERMINATED) + transitions.truncated * np.uint8(TRUNCATED)
    flags += np.uint8(ORIGIN_FLAGS[transitions.origin])
    return {
        "row": torch.from_numpy(row),
        "flags": torch.from_numpy(flags.astype(np.uint8)),
        "policy_version": torch.from_numpy(transitions.policy_version.view(np.int32)),
        "domain_id": torch.from_numpy(transitions.domain_id.view(np.int32)),
    }
