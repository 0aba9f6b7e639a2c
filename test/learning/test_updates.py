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

    def __init__(self, agent, initial=False, origins=False):
        self.agent = agent
        self.rng = torch.Generator().manual_seed(0)
        self.rng.set_state(agent.learning_rng.get_state())
        rows = agent.experience.global_.used()["row"]
        if origins:
            target = (agent.experience.global_.used()["flags"] & 4) != 0
            self.rows = rows[~target][torch.randint(int((~target).sum()), (N,), generator=self.rng)]
            self.target_rows = rows[target][torch.randint(int(target.sum()), (N,), generator=self.rng)]
        else:
            self.rows = rows[torch.randint(len(rows), (N,), generator=self.rng)]
        if initial:
            starts = agent.experience.initial.used()["obs"]
            self.initial = starts[torch.randint(len(starts), (N,), generator=self.rng)]
        self.obs, self.action = self.rows[:, :OBS], self.rows[:, OBS : OBS + ACT]
        self.next_obs, self.reward, self.continues = self.rows[:, OBS + ACT : -3], self.rows[:, -3], self.rows[:, -2]
        copies = {
            name: module.flat.detach().clone() for name, module in agent.modules().items() if hasattr(module, "flat")
        }
        self.flat = {name: flat.requires_grad_(True) for name, flat in copies.items()}

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
    agent = small_agent(algorithm="sac", initial_temperature=0.2)
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
    assert agent.own_actor_period == 2


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
    agent = small_agent(algorithm="algaedice", actor_period=1, alpha=0.01)
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
    agent.discriminator.trained = True
    agent.rate(agent.experience.global_.used()["row"])
    agent.experience.unrated = 0
    hand = Hand(agent, initial=True)
    logit = agent.discriminator.network(hand.rows[:, :-3]).detach()
    assert (logit.abs() > 0.2).any()
    reward = (hand.reward + 1.0).log() + sign * 0.3 * logit.clamp(-0.2, 0.2)
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


def test_darc(small_agent):
    agent = small_agent(algorithm="darc", classifier_warmup=0, classifier_noise=0.5, initial_temperature=0.2)
    hand = Hand(agent, origins=True)
    both = torch.cat((hand.target_rows, hand.rows))
    both = both + 0.5 * hand.noise(*both.shape)
    label = torch.cat((torch.ones(N), torch.zeros(N)))
    loss = 2 * F.binary_cross_entropy_with_logits(agent.with_next(both[:, :-3]), label)
    loss = loss + 2 * F.binary_cross_entropy_with_logits(agent.without_next(both[:, : OBS + ACT]), label)
    torch.testing.assert_close(agent.classifiers_loss(both, N), loss)
    next_noise = hand.noise(N, ACT)

    agent._update_actor = lambda obs: None  # its rule is SAC's; here the critic's corrected target is in question
    agent.update(1)
    correction = (agent.with_next(hand.rows[:, :-3]) - agent.without_next(hand.rows[:, : OBS + ACT])).detach()
    next_action, next_log_prob = hand.policy(hand.next_obs, next_noise)
    next_value = hand.q("target_critic", hand.next_obs, next_action).min(0).values - 0.2 * next_log_prob
    target = (hand.reward + correction + GAMMA * hand.continues * next_value).detach()
    q1, q2 = hand.q("critic", hand.obs, hand.action)
    hand.adam("critic", 0.5 * F.mse_loss(q1, target) + 0.5 * F.mse_loss(q2, target))
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
    ompo = small_agent(algorithm="ompo", discrepancy="none", linear_part=False, reward="raw")
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
