"""The discriminator's logit against the true log ratio of occupancies."""

import pytest
import tabular
import torch
from torch.nn.functional import one_hot

from ompo_ros.learning import Config, make_agent
from ompo_ros.learning.discriminator import Discriminator, classification_loss


def test_loss_is_least_at_the_true_log_ratio():
    mdp = tabular.random_mdp(0, deterministic_source=False)
    local, old = mdp.occupancy(mdp.target), mdp.buffer

    def loss(logit):
        return (local * classification_loss(logit, True) + old * classification_loss(logit, False)).sum()

    logit = tabular.minimise(loss, torch.zeros_like(local))
    torch.testing.assert_close(logit, mdp.log_ratio(), atol=1e-4, rtol=1e-4)


def samples(occupancy, count, rng):
    """Transitions drawn from an occupancy, as one-hot rows `s | a | s'`."""
    states, actions, _ = occupancy.shape
    drawn = torch.multinomial(occupancy.flatten(), count, replacement=True, generator=rng)
    s, a, t = drawn // (actions * states), drawn // states % actions, drawn % states
    rows = torch.cat((one_hot(s, states), one_hot(a, actions), one_hot(t, states)), 1).float()
    return rows, (s, a, t)


def test_trained_network_learns_the_log_ratio_from_samples():
    mdp = tabular.random_mdp(0, deterministic_source=False, states=4, actions=2)
    rng = torch.Generator().manual_seed(0)
    config = Config(discrepancy_bound=10.0, hidden_size=64, discriminator_lr=1e-3)
    discriminator = Discriminator(config, 4, 2, rng, torch.device("cpu"))
    for _ in range(1_500):
        local, _ = samples(mdp.occupancy(mdp.target), 512, rng)
        old, _ = samples(mdp.buffer, 512, rng)
        discriminator.step(local, old, rng)
    discriminator.calibrate(samples(mdp.occupancy(mdp.target), 4_000, rng)[0], samples(mdp.buffer, 4_000, rng)[0])
    assert 0.85 < float(discriminator.slope) < 1.15
    rows, places = samples(mdp.buffer, 4_000, rng)
    truth = mdp.log_ratio()[places].float()
    error = (discriminator.log_ratio(rows) - truth).abs().mean()
    assert truth.abs().mean() > 0.3
    assert error < 0.12


def test_penalty_bounds_the_slope_where_classes_do_not_overlap():
    rng = torch.Generator().manual_seed(0)
    slopes = {}
    for penalty in (0.0, 10.0):
        config = Config(gradient_penalty=penalty, hidden_size=32, discriminator_lr=1e-2)
        discriminator = Discriminator(config, 1, 1, rng, torch.device("cpu"))
        for _ in range(200):
            noise = torch.randn((2, 64, 3), generator=rng)
            discriminator.step(0.1 * noise[0] + 1.0, 0.1 * noise[1] - 1.0, rng)
        middle = torch.zeros((1, 3), requires_grad=True)
        (slope,) = torch.autograd.grad(discriminator.network(middle).sum(), middle)
        slopes[penalty] = float(slope.norm())
    assert slopes[10.0] < 2.0 < slopes[0.0]


def test_values_beyond_the_bound_are_held_and_counted():
    rng = torch.Generator().manual_seed(0)
    discriminator = Discriminator(Config(discrepancy_bound=0.05), 1, 1, rng, torch.device("cpu"))
    rows = torch.randn((500, 3), generator=rng)
    assert (discriminator.log_ratio(rows) == 0).all()  # nothing is claimed before the first round
    discriminator.trained = True
    discriminator.slope.fill_(1.0)
    bounded, free = discriminator.log_ratio(rows), discriminator.network(discriminator.standardization(rows)).detach()
    assert bounded.abs().max() <= 0.05 + 1e-7
    assert float(discriminator.saturation(bounded)) == float((free.abs() >= 0.05).float().mean())
    assert 0.0 < float(discriminator.saturation(bounded)) < 1.0


def shifted(count, shift, unit, rng):
    """Transitions of two observations and an action whose next state and action lie `shift` deviations off."""
    normal = torch.randn((count, 5), generator=rng)
    normal[:, 2:] += shift
    obs, action, move = normal[:, :2], normal[:, 2:3], normal[:, 3:]
    return unit * torch.cat((obs, action, obs + 0.01 * move), 1)


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_rounds_at_the_shipped_settings_give_the_log_ratio_in_any_unit(unit, shift):
    config = Config(discrepancy_bound=20.0, local_capacity=500, global_capacity=20_000, threads=1)
    rng = torch.Generator().manual_seed(1)
    agent = make_agent(config, 2, 1, 0, "cpu")
    experience = agent.experience
    for ring, shifted_by, count in ((experience.global_, 0.0, 10_000), (experience.round, shift, 500)):
        rows = torch.zeros(count, agent.layout.width)
        rows[:, :-3] = shifted(count, shifted_by, unit, rng)
        ring.columns["row"][:count] = rows
        ring.size = count
    experience.round_waits = True
    while experience.round_waits:
        agent.rating.advance(agent.normalizer, agent.learning_rng)
    rows = torch.cat((shifted(2_000, shift, unit, rng), shifted(2_000, 0.0, unit, rng)))
    move = (rows[:, 3:] - rows[:, :2]) / (0.01 * unit)
    truth = shift * (torch.cat((rows[:, 2:3] / unit, move), 1) - shift / 2).sum(1)
    found = agent.rating.discriminator.log_ratio(rows)
    assert float((found - truth).square().mean().sqrt()) < 0.5
    if shift:
        slope = float(torch.cov(torch.stack((found, truth)))[0, 1] / truth.var())
        assert 0.8 < slope < 1.2
    loss = float(agent.rating.discriminator.held_out_loss)
    assert (loss < 0.45) if shift else (loss > 0.66)
