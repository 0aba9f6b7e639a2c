"""A small MDP on which every quantity of OMPO has a closed form."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Tabular:
    source: Tensor  # (s, a, s') probabilities
    target: Tensor
    initial: Tensor  # (s,)
    reward: Tensor  # (s, a), positive
    behaviour: Tensor  # (s, a), the policy that filled the buffer
    logits: Tensor  # (s, a), the policy that learns
    discount: float = 0.9

    @property
    def policy(self):
        return self.logits.softmax(-1)

    @property
    def buffer(self):
        """ρ̂(s, a, s'): the behaviour's occupancy under the source."""
        return occupancy(self.source, self.behaviour, self.initial, self.discount)

    def occupancy(self, dynamics, policy=None):
        return occupancy(dynamics, self.policy if policy is None else policy, self.initial, self.discount)

    def log_ratio(self):
        """R = log ρ^π_T / ρ̂ where the buffer has mass, zero elsewhere."""
        buffer = self.buffer
        ratio = self.occupancy(self.target) / buffer.where(buffer > 0, 1.0)
        return ratio.where(buffer > 0, 1.0).log().detach()


def occupancy(dynamics, policy, initial, discount):
    """ρ(s, a, s') by solving ρ(s) = (1 - γ) μ0(s) + γ Σ ρ(ŝ) π(â|ŝ) T(s|ŝ, â)."""
    flow = torch.einsum("sa,sat->st", policy, dynamics)
    states = torch.linalg.solve(torch.eye(len(initial), dtype=flow.dtype) - discount * flow.T, (1 - discount) * initial)
    return states[:, None, None] * policy[..., None] * dynamics


def random_mdp(seed, deterministic_source, states=6, actions=3, shift=1.0):
    rng = torch.Generator().manual_seed(seed)

    def distribution(*shape):
        values = torch.rand(shape, generator=rng, dtype=torch.float64).add(0.1).square()
        return values / values.sum(-1, keepdim=True)

    if deterministic_source:
        following = torch.randint(states, (states, actions), generator=rng)
        source = torch.nn.functional.one_hot(following, states).double()
    else:
        source = distribution(states, actions, states)
    other = distribution(states, actions, states)
    return Tabular(
        source=source,
        target=(1 - 0.5 * shift) * source + 0.5 * shift * other,
        initial=distribution(states),
        reward=torch.rand((states, actions), generator=rng, dtype=torch.float64).add(0.2),
        behaviour=distribution(states, actions),
        logits=torch.randn((states, actions), generator=rng, dtype=torch.float64),
    )


def minimise(loss, start, steps=8):
    """Descend a smooth convex function of one table to its minimum."""
    table = start.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS(
        [table],
        max_iter=300,
        history_size=50,
        tolerance_grad=1e-13,
        tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )

    def closure():
        optimizer.zero_grad()
        value = loss(table)
        value.backward()
        return value

    for _ in range(steps):
        optimizer.step(closure)
    return table.detach()
