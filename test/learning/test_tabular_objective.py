"""The losses used in training against closed forms on a tabular MDP: ratios, gradients, and which sign is a bound."""

import pytest
import tabular
import torch

from ompo_ros.learning.divergence import conjugate, conjugate_slope, f
from ompo_ros.learning.objective import Objective

ALPHA = 0.5
SIGNS = {"paper": -1.0, "bound": 1.0, "none": 0.0}


def objective(mdp, q=2.0, discrepancy="none", **other):
    return Objective(q, ALPHA, mdp.discount, discrepancy, discrepancy_weight=ALPHA, linear_part=True, **other)


def residual(goal, mdp, q_table, policy, reward, expected):
    """Ψ(s, a, s'); `expected` averages the next value over s' as the operator 𝒯 does, else each s' has its own."""
    next_value = (policy * q_table).sum(-1)
    if expected:
        next_value = (mdp.source @ next_value)[..., None]
    return goal.residual(reward, torch.ones(()), next_value, q_table[..., None])


def critic_loss(goal, mdp, q_table, policy, reward, expected):
    psi = residual(goal, mdp, q_table, policy, reward, expected)
    initial_value = (policy * q_table).sum(-1)
    return (mdp.buffer * goal.residual_loss(psi)).sum() + (mdp.initial * goal.initial_loss(initial_value)).sum()


def solve(goal, mdp, reward, expected=False):
    start = torch.zeros_like(mdp.reward)
    return tabular.minimise(lambda t: critic_loss(goal, mdp, t, mdp.policy, reward, expected), start)


def corrected_reward(goal, mdp):
    return goal.corrected_reward(mdp.reward.log()[..., None], mdp.log_ratio())


@pytest.mark.parametrize("q", [1.05, 1.2, 1.5, 1.7, 2.0])
def test_conjugate_and_its_slope_are_those_of_f(q):
    y = torch.linspace(-2, 2, 41, dtype=torch.float64)
    x = torch.linspace(-40, 40, 400_001, dtype=torch.float64)
    best, where = (x[:, None] * y - f(x, q)[:, None]).max(0)
    inside = (where > 0) & (where < len(x) - 1)
    torch.testing.assert_close(conjugate(y, q)[inside], best[inside], atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(conjugate_slope(y, q)[inside], x[where][inside], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("q", [1.05, 1.5, 2.0])
def test_slope_is_the_gradient_also_at_zero(q):
    y = torch.tensor([-2.0, -1e-30, 0.0, 1e-30, 2.0], requires_grad=True)
    (slope,) = torch.autograd.grad(conjugate(y, q).sum(), y)
    torch.testing.assert_close(slope, conjugate_slope(y.detach(), q))


@pytest.mark.parametrize("q", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("alpha", [0.001, 0.3, 2.0])
def test_rescaled_terms_are_the_equations_times_one_factor(q, alpha):
    goal = Objective(q, alpha, 0.9)
    psi = torch.linspace(-3, 3, 31, dtype=torch.float64)
    factor = alpha ** (q - 1)
    torch.testing.assert_close(goal.residual_loss(psi), factor * alpha * conjugate(psi / alpha, q))
    torch.testing.assert_close(goal.initial_loss(psi), factor * 0.1 * psi)
    torch.testing.assert_close(goal.weight(psi), factor * conjugate_slope(psi / alpha, q).clamp_min(0))


@pytest.mark.parametrize("discrepancy", ["paper", "bound", "none"])
@pytest.mark.parametrize("q", [1.5, 2.0])
def test_inner_optimum_gives_the_true_density_ratio(q, discrepancy):
    mdp = tabular.random_mdp(1, deterministic_source=True)
    goal = objective(mdp, q, discrepancy)
    reward = corrected_reward(goal, mdp)
    psi = residual(goal, mdp, solve(goal, mdp, reward), mdp.policy, reward, expected=False)
    held = mdp.buffer > 0
    weight = goal.weight(psi) / goal.scale
    torch.testing.assert_close(weight[held], (mdp.occupancy(mdp.source) / mdp.buffer)[held], atol=2e-4, rtol=2e-4)


def test_inner_optimum_is_exact_under_random_dynamics_if_the_next_value_is_averaged():
    mdp = tabular.random_mdp(2, deterministic_source=False)
    goal = objective(mdp, 2.0, "bound")
    reward = corrected_reward(goal, mdp)
    psi = residual(goal, mdp, solve(goal, mdp, reward, expected=True), mdp.policy, reward, expected=True)
    ratio = (mdp.occupancy(mdp.source).sum(-1) / mdp.buffer.sum(-1)).detach()
    slope = conjugate_slope(psi / ALPHA, goal.q)  # an s' may have a negative weight; their average may not
    torch.testing.assert_close((mdp.source * slope).sum(-1), ratio, atol=1e-6, rtol=1e-6)


def test_sampled_next_states_give_an_occupancy_of_the_policy_under_tilted_dynamics():
    """With one sampled s', f* is outside the average: w rho-hat still flows as the policy's, but favours lucky s'."""
    mdp = tabular.random_mdp(2, deterministic_source=False)
    goal = objective(mdp, 2.0, "none")
    reward = corrected_reward(goal, mdp)
    psi = residual(goal, mdp, solve(goal, mdp, reward), mdp.policy, reward, expected=False)
    tilted = mdp.buffer * conjugate_slope(psi / ALPHA, goal.q)
    arriving = (1 - mdp.discount) * mdp.initial + mdp.discount * tilted.sum((0, 1))
    torch.testing.assert_close(tilted.sum(-1), arriving[:, None] * mdp.policy, atol=1e-7, rtol=1e-6)
    assert (tilted - mdp.occupancy(mdp.source)).abs().max() > 1e-3


@pytest.mark.parametrize("discrepancy", ["paper", "bound", "none"])
@pytest.mark.parametrize("q", [1.5, 2.0])
def test_actor_gradient_is_the_exact_policy_gradient(q, discrepancy):
    mdp = tabular.random_mdp(3, deterministic_source=True)
    goal = objective(mdp, q, discrepancy)
    reward = corrected_reward(goal, mdp)
    q_table = solve(goal, mdp, reward)
    held = mdp.buffer > 0

    logits = mdp.logits.clone().requires_grad_(True)
    occupancy = mdp.occupancy(mdp.source, logits.softmax(-1))
    ratio = (occupancy / mdp.buffer.where(held, 1.0)).where(held, 1.0)
    surrogate = (occupancy * reward).sum() - ALPHA * (mdp.buffer * f(ratio, q)).sum()
    (exact,) = torch.autograd.grad(goal.scale * surrogate, logits)

    policy = logits.softmax(-1)
    weight = goal.weight(residual(goal, mdp, q_table, mdp.policy, reward, expected=False))
    value = (policy * q_table).sum(-1)
    gain = (mdp.buffer * goal.policy_gain(weight, torch.ones(()), value)).sum()
    gain = gain + (mdp.initial * goal.initial_loss(value)).sum()
    (learned,) = torch.autograd.grad(gain, logits)
    assert exact.abs().max() > 1e-3
    torch.testing.assert_close(learned, exact, atol=1e-5, rtol=1e-3)


def surrogate_value(mdp, sign, divergence):
    """E_p[log r + sign α R] - α D, the objective each sign of R claims as a bound."""
    p = mdp.occupancy(mdp.source)
    return (p * (mdp.reward.log()[..., None] + sign * ALPHA * mdp.log_ratio())).sum() - ALPHA * divergence


def kl(p, b):
    return (p * (p / b).log()).sum()


def bounded_objective(mdp):
    p = mdp.occupancy(mdp.source)
    return (p * mdp.reward.log()[..., None]).sum() - ALPHA * kl(p, mdp.occupancy(mdp.target))


def test_plus_r_is_the_lower_bound_and_minus_r_is_none():
    """J(π) = E_p[log r] - α KL(p || t), and KL(p || t) = KL(p || b) - E_p[R]: R enters a bound with plus."""
    violations = 0
    for seed in range(20):
        mdp = tabular.random_mdp(seed, deterministic_source=False, shift=1.5)
        p, b = mdp.occupancy(mdp.source), mdp.buffer
        claimed = bounded_objective(mdp)
        exact_divergence = kl(p, b)
        chi_squared = 2.0 * (b * f(p / b, 2.0)).sum()  # E_b[(p/b - 1)²], never below the KL divergence
        assert chi_squared >= exact_divergence
        torch.testing.assert_close(surrogate_value(mdp, SIGNS["bound"], exact_divergence), claimed)
        assert surrogate_value(mdp, SIGNS["bound"], chi_squared) <= claimed + 1e-12
        violations += int(surrogate_value(mdp, SIGNS["paper"], exact_divergence) > claimed)
        violations += int(surrogate_value(mdp, SIGNS["paper"], chi_squared) > claimed)
    assert violations > 0


def test_the_papers_divergence_does_not_dominate_kl():
    """Near 1 for q < 2, and below 1 for q = 2, f is less than x log x - x + 1: proposition 4.1 asks for more."""
    x = torch.tensor([0.5, 0.9, 1.1], dtype=torch.float64)
    of_kl = x * x.log() - x + 1
    assert (f(x, 1.5) < of_kl).all()
    assert (f(x, 2.0) < of_kl).tolist() == [True, True, False]
    assert (2.0 * f(x, 2.0) >= of_kl).all()


def test_without_r_the_reward_is_untouched():
    mdp = tabular.random_mdp(4, deterministic_source=True)
    goal = objective(mdp, 1.5, "none")
    torch.testing.assert_close(corrected_reward(goal, mdp), mdp.reward.log()[..., None].expand(6, 3, 6))
