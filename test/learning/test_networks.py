"""The hand-written pass against automatic differentiation of the plain formulas."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from ompo_ros.learning.mlp import MLP, Sizes
from ompo_ros.learning.networks import Actor, Critic, squash

CPU = torch.device("cpu")


def plain(mlp, flat, x):
    """Compute the network by the textbook, differentiable in everything."""
    p = dict(zip(mlp.named, mlp.split(flat), strict=True))
    z = x @ p["weight_0"] + p["bias_0"]
    h = torch.tanh(F.layer_norm(z, z.shape[-1:]) * p["gain"] + p["offset"]) if mlp.sizes.layer_norm else F.elu(z)
    return F.elu(h @ p["weight_1"] + p["bias_1"]) @ p["weight_2"] + p["bias_2"]


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_value_and_gradients_are_those_of_the_formulas(heads, layer_norm):
    rng = torch.Generator().manual_seed(0)
    mlp = MLP(Sizes(7, 12, 4, heads, layer_norm), rng, CPU)
    with torch.no_grad():
        mlp.flat.add_(torch.randn(mlp.flat.shape, generator=rng) * 0.3)
    x = torch.randn((9, 7), generator=rng).requires_grad_(True)
    weigh = torch.randn((heads, 9, 4), generator=rng)
    expected_value = plain(mlp, mlp.flat, x)
    torch.testing.assert_close(mlp(x), expected_value)
    expected = torch.autograd.grad((weigh * expected_value).sum(), (x, mlp.flat))
    torch.testing.assert_close(torch.autograd.grad((weigh * mlp(x)).sum(), (x, mlp.flat)), expected)


def test_frozen_pass_reaches_only_the_inputs():
    critic = Critic(5, 8, 2, "elu", torch.Generator().manual_seed(0), CPU)
    x = torch.randn(6, 5, requires_grad=True)
    (free,) = torch.autograd.grad(critic(x).sum(), x)
    (frozen,) = torch.autograd.grad(critic(x, frozen=True).sum(), x)
    torch.testing.assert_close(frozen, free)
    assert not critic(x.detach(), frozen=True).requires_grad


def test_heads_are_independent_and_start_apart():
    critic = Critic(5, 8, 2, "elu", torch.Generator().manual_seed(0), CPU)
    first, second = critic(torch.randn(6, 5))
    assert (first - second).abs().min() > 1e-4


def test_squashed_density_is_that_of_the_transformed_gaussian():
    mean, log_std = torch.tensor([[0.3, -1.0]]), torch.tensor([[-0.5, 0.2]])
    noise = torch.tensor([[0.7, -1.1]])
    action, log_prob = squash(mean, log_std, noise)
    gaussian = torch.distributions.Normal(mean, log_std.exp())
    squashed = torch.distributions.TransformedDistribution(gaussian, torch.distributions.TanhTransform())
    torch.testing.assert_close(log_prob, squashed.log_prob(action).sum(-1), atol=1e-5, rtol=1e-5)


def test_density_stays_finite_where_the_squash_saturates():
    action, log_prob = squash(torch.tensor([[60.0]]), torch.tensor([[0.0]]), torch.tensor([[0.0]]))
    assert float(action) == 1.0
    assert math.isfinite(float(log_prob))


def test_log_deviation_is_clipped_to_its_range():
    actor = Actor(3, 2, 8, "elu", (-20.0, 2.0), torch.Generator().manual_seed(0), CPU)
    actor.named["bias_2"][..., 2:] = torch.tensor([-100.0, 100.0])
    log_std = actor.distribution(torch.zeros(1, 3))[1]
    np.testing.assert_array_equal(log_std.detach(), [[-20.0, 2.0]])
