"""One update of every algorithm against the published rule, written out by hand on the same batch and noise."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from test_networks import plain

from ompo_ros.learning.networks import squash
from ompo_ros.transitions import Origin

OBS, ACT, N = 5, 2, 8
GAMMA = 0.99


class Hand:
    """The pieces of a batch as an agent is about to draw them, and its networks by the textbook."""

    def __init__(self, agent, initial=False):
        self.agent = agent
        self.rng = torch.Generator().manual_seed(0)
        self.rng.set_state(agent.learning_rng.get_state())
        rows = agent.experience.global_.used()["row"]
        self.take(rows[torch.randint(len(rows), (N,), generator=self.rng)])
        if initial:
            starts = agent.experience.initial.used()["obs"]
            self.initial = starts[torch.randint(len(starts), (N,), generator=self.rng)]
        copies = {
            name: module.flat.detach().clone() for name, module in agent.modules().items() if hasattr(module, "flat")
        }
        self.flat = {name: flat.requires_grad_(True) for name, flat in copies.items()}

    def take(self, rows):
        self.rows, self.obs, self.action = rows, rows[:, :OBS], rows[:, OBS : OBS + ACT]
        self.next_obs, self.reward, self.continues = rows[:, OBS + ACT : -3], rows[:, -3], rows[:, -2]

    def draw_origins(self):
        used = self.agent.experience.global_.used()
        target = (used["flags"] & 4) != 0
        self.take(used["row"][~target][torch.randint(int((~target).sum()), (N,), generator=self.rng)])
        self.target_rows = used["row"][target][torch.randint(int(target.sum()), (N,), generator=self.rng)]

    def noise(self, *shape):
        return torch.randn(shape, generator=self.rng)

    def q(self, name, obs, action):
        return plain(self.agent.critic, self.flat[name], torch.cat((obs, action), 1)).squeeze(-1)

    def policy(self, obs, noise, name="actor"):
        mean, log_std = plain(self.agent.actor, self.flat[name], obs)[0].split(ACT, -1)
        return squash(mean, log_std.clamp(-20, 2), noise)

    def adam(self, name, loss, lr=3e-4):
        """One step of Adam from its start: lr * g / (|g| + eps)."""
        (grad,) = torch.autograd.grad(loss, self.flat[name])
        self.flat[name] = (self.flat[name] - lr * grad / (grad.abs() + 1e-8)).detach().requires_grad_(True)

    def check(self, name):
        torch.testing.assert_close(self.agent.modules()[name].flat, self.flat[name], atol=2e-6, rtol=1e-5)


def track(target, source):
    return target + 0.005 * (source - target)


def test_sac(small_agent):
    agent = small_agent(algorithm="sac", actor_period=1, initial_temperature=0.2)
    hand = Hand(agent)
    next_action, next_log_prob = hand.policy(hand.next_obs, hand.noise(N, ACT))
    next_value = hand.q("target_critic", hand.next_obs, next_action).min(0).values - 0.2 * next_log_prob
    target = (hand.reward + GAMMA * hand.continues * next_value).detach()
    q1, q2 = hand.q("critic", hand.obs, hand.action)
    hand.adam("critic", 0.5 * F.mse_loss(q1, target) + 0.5 * F.mse_loss(q2, target))
    action, log_prob = hand.policy(hand.obs, hand.noise(N, ACT))
    hand.adam("actor", (0.2 * log_prob - hand.q("critic", hand.obs, action).min(0).values).mean())
    entropy_error = float(-log_prob.detach().mean()) - (-1.0 * ACT)

    agent.update(1)
    hand.check("critic")
    hand.check("actor")
    torch.testing.assert_close(agent.target_critic.flat, track(hand.flat["target_critic"], agent.critic.flat))
    assert (float(agent.temperature) < 0.2) == (entropy_error > 0)


def test_td3(small_agent):
    agent = small_agent(algorithm="td3", actor_period=1)
    hand = Hand(agent)
    mean = plain(agent.actor, hand.flat["target_actor"], hand.next_obs)[0, :, :ACT]
    smoothed = (mean.tanh() + (0.2 * hand.noise(N, ACT)).clamp(-0.5, 0.5)).clamp(-1, 1)
    next_value = hand.q("target_critic", hand.next_obs, smoothed).min(0).values
    target = (hand.reward + GAMMA * hand.continues * next_value).detach()
    q1, q2 = hand.q("critic", hand.obs, hand.action)
    hand.adam("critic", F.mse_loss(q1, target) + F.mse_loss(q2, target))
    action = plain(agent.actor, hand.flat["actor"], hand.obs)[0, :, :ACT].tanh()
    hand.adam("actor", -hand.q("critic", hand.obs, action)[0].mean())

    agent.update(1)
    for name in ("critic", "actor"):
        hand.check(name)
    torch.testing.assert_close(agent.target_actor.flat, track(hand.flat["target_actor"], agent.actor.flat))


def occupancy_update(agent, hand, reward, slope, power, initial_weight):
    """Make the update OMPO and AlgaeDICE share; `power` and `slope` are f* and f*' of Ψ, already rescaled."""
    temperature = 1.0
    action, log_prob = hand.policy(torch.cat((hand.next_obs, hand.initial)), hand.noise(2 * N, ACT))
    next_action, initial_action = action[:N], action[N:]
    bootstrap = hand.q("target_critic", hand.next_obs, next_action).min(0).values - temperature * log_prob[:N]
    psi = reward + GAMMA * hand.continues * bootstrap.detach() - hand.q("critic", hand.obs, hand.action)
    initial_value = hand.q("critic", hand.initial, initial_action.detach())
    hand.adam("critic", (power(psi) + initial_weight * (1 - GAMMA) * initial_value).mean(1).sum())
    weight = slope(psi).clamp_min(0).mean(0).detach()
    next_value = hand.q("critic", hand.next_obs, next_action).min(0).values - temperature * log_prob[:N]
    gain = (weight * GAMMA * hand.continues * next_value).mean()
    gain = gain + (initial_weight * (1 - GAMMA) * hand.q("critic", hand.initial, initial_action).min(0).values).mean()
    hand.adam("actor", -gain)


def root(psi):
    return psi.sign() * psi.abs().sqrt()


def test_algaedice(small_agent):
    agent = small_agent(algorithm="algaedice", actor_period=1, alpha=0.3, q=2.0)  # it has values of its own
    hand = Hand(agent, initial=True)
    occupancy_update(agent, hand, hand.reward, root, lambda psi: psi.abs() ** 1.5 / 1.5, 0.01**0.5)
    agent.update(1)
    hand.check("critic")
    hand.check("actor")


@pytest.mark.parametrize(("discrepancy", "sign"), [("paper", -1.0), ("bound", 1.0), ("none", 0.0)])
def test_ompo(small_agent, discrepancy, sign):
    settings = {"discrepancy": discrepancy, "discrepancy_weight": 0.3, "discrepancy_bound": 0.2}
    agent = small_agent(
        algorithm="ompo", actor_period=1, alpha=0.04, linear_part=True, reward="log", reward_shift=1.0, **settings
    )
    agent.experience.finish_round()  # no round: the discriminator stays as it is
    reward = 0.0
    if sign:
        discriminator = agent.rating.discriminator
        discriminator.trained = True
        discriminator.slope.fill_(0.5)
        agent.rating.rate(agent.experience.global_.used()["row"], agent.normalizer)
    agent.experience.unrated = 0
    hand = Hand(agent, initial=True)
    if sign:
        inputs = torch.cat((hand.rows[:, : OBS + ACT], hand.next_obs - hand.obs), 1)
        logit = 0.5 * discriminator.network(inputs).detach()
        assert (logit.abs() > 0.2).any()
        reward = sign * 0.3 * logit.clamp(-0.2, 0.2)
    reward = reward + (hand.reward + 1.0).log()
    factor = 0.04**0.5
    occupancy_update(
        agent,
        hand,
        reward,
        lambda psi: root(psi) + factor,
        lambda psi: psi.abs() ** 1.5 / 1.5 + factor * psi,
        factor,
    )
    agent.update(1)
    hand.check("critic")
    hand.check("actor")


def classified(agent, hand):
    """The classifiers' inputs by hand: `s | a | s' - s` of target and source in deviations of what D_G held."""
    rows = agent.experience.global_.used()["row"][torch.randint(130, (4_096,), generator=hand.rng)]
    held = torch.cat((rows[:, : OBS + ACT], rows[:, OBS + ACT : -3] - rows[:, :OBS]), 1)

    def inputs(rows):
        moved = torch.cat((rows[:, : OBS + ACT], rows[:, OBS + ACT : -3] - rows[:, :OBS]), 1)
        return (moved - held.mean(0)) / held.std(0, correction=0)

    return inputs


@pytest.mark.parametrize("algorithm", ["darc", "sac_iw"])
def test_what_learns_from_sources_alone(small_agent, algorithm):
    agent = small_agent(algorithm=algorithm, classifier_warmup=0, classifier_noise=0.5, initial_temperature=0.2)
    hand = Hand(agent)
    hand.rng.set_state(agent.learning_rng.get_state())
    inputs = classified(agent, hand)
    hand.draw_origins()
    both = inputs(torch.cat((hand.target_rows, hand.rows)))
    both = both + 0.5 * hand.noise(*both.shape)
    label = torch.cat((torch.ones(N), torch.zeros(N)))
    loss = 2 * F.binary_cross_entropy_with_logits(agent.with_next(both), label)
    loss = loss + 2 * F.binary_cross_entropy_with_logits(agent.without_next(both[:, : OBS + ACT]), label)
    torch.testing.assert_close(agent.classifiers_loss(both, N), loss)
    next_noise = hand.noise(N, ACT)

    agent._update_actor = lambda obs: None  # its rule is SAC's; here the critic's cost is in question
    agent.update(1)
    drawn = inputs(hand.rows)
    odds = (agent.with_next(drawn) - agent.without_next(drawn[:, : OBS + ACT])).detach()
    correction, weight = (odds, 1.0) if algorithm == "darc" else (0.0, odds.exp().clamp(1e-4, 10.0))
    next_action, next_log_prob = hand.policy(hand.next_obs, next_noise)
    next_value = hand.q("target_critic", hand.next_obs, next_action).min(0).values - 0.2 * next_log_prob
    target = (hand.reward + correction + GAMMA * hand.continues * next_value).detach()
    q1, q2 = hand.q("critic", hand.obs, hand.action)
    hand.adam("critic", 0.5 * (weight * (q1 - target) ** 2).mean() + 0.5 * (weight * (q2 - target) ** 2).mean())
    hand.check("critic")


def test_darc_waits_for_its_classifiers(small_agent):
    waiting, eager = (small_agent(algorithm="darc", classifier_warmup=warmup) for warmup in (1, 0))
    assert "correction" not in waiting.update(1)
    assert "correction" in waiting.update(1)
    assert "correction" in eager.update(1)


def test_darc_learns_from_sources_only_and_needs_both(small_agent, transitions):
    agent = small_agent(algorithm="darc", fill=False)
    agent.observe(transitions(10, Origin.SOURCE))
    assert not agent.ready
    agent.observe(transitions(10, Origin.TARGET))
    assert agent.ready


def test_none_with_q_2_and_no_initial_term_is_a_soft_td_update(small_agent):
    settings = {"discrepancy": "none", "q": 2.0, "initial_term": False, "linear_part": False}
    ompo = small_agent(algorithm="ompo", actor_period=1, initial_temperature=0.2, **settings)
    ompo.experience.finish_round()
    hand = Hand(ompo, initial=True)
    next_action, next_log_prob = hand.policy(torch.cat((hand.next_obs, hand.initial)), hand.noise(2 * N, ACT))
    next_value = hand.q("target_critic", hand.next_obs, next_action[:N]).min(0).values - 0.2 * next_log_prob[:N]
    target = (hand.reward + GAMMA * hand.continues * next_value).detach()
    q1, q2 = hand.q("critic", hand.obs, hand.action)
    hand.adam("critic", 0.5 * F.mse_loss(q1, target) + 0.5 * F.mse_loss(q2, target))
    ompo.update(1)
    hand.check("critic")


def test_none_without_linear_part_is_algaedice(small_agent):
    ompo = small_agent(algorithm="ompo", discrepancy="none", linear_part=False, reward="raw", alpha=0.01)
    algaedice = small_agent(algorithm="algaedice", linear_part=True, reward="log", discrepancy="bound")
    for agent in (ompo, algaedice):
        agent.update(5)
    assert torch.equal(ompo.critic.flat, algaedice.critic.flat)
    assert torch.equal(ompo.actor.flat, algaedice.actor.flat)


def test_online_bootstrap_differentiates_both_ends(small_agent):
    agent = small_agent(algorithm="ompo", bootstrap="online", discrepancy="none", entropy_temperature="none")
    rows = agent._sample()
    onward = torch.cat((torch.cat((rows[:, OBS + ACT : -3], rows[:, :OBS])), torch.zeros(2 * N, ACT)), 1)
    psi, _, _ = agent.residuals(rows, onward, torch.zeros(2 * N))
    (grad,) = torch.autograd.grad(psi.sum(), agent.critic.flat)
    flat = agent.critic.flat.detach().clone().requires_grad_(True)
    here, after = (plain(agent.critic, flat, x).squeeze(-1) for x in (rows[:, : OBS + ACT], onward[:N]))
    expected = rows[:, -3] + GAMMA * rows[:, -2] * after - here
    torch.testing.assert_close(psi, expected)
    torch.testing.assert_close(grad, torch.autograd.grad(expected.sum(), flat)[0], atol=1e-5, rtol=1e-4)
