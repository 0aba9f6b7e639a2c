"""The common part of all algorithms: buffers, networks, optimisers, acting, and the state for checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from ompo_ros.learning.buffers import EmptyBuffer, Layout
from ompo_ros.learning.config import Config
from ompo_ros.learning.device import compiled, generator, track
from ompo_ros.learning.experience import Experience
from ompo_ros.learning.metrics import Metrics, Reading
from ompo_ros.learning.networks import Actor, Critic
from ompo_ros.learning.normalization import Normalizer, RewardTransform
from ompo_ros.learning.optimizer import Adam, Group
from ompo_ros.learning.rating import Rating
from ompo_ros.transitions import InvalidData, Origin, Transitions

Array = NDArray[np.generic]


class Agent(ABC):
    """An off-policy actor-critic over D_G, D_L and D_0; an algorithm adds its `_step`."""

    def __init__(self, config: Config, obs_dim: int, act_dim: int, seed: int, device: torch.device) -> None:
        self.config, self.obs_dim, self.act_dim, self.seed, self.device = config, obs_dim, act_dim, seed, device
        self.layout = Layout(obs_dim, act_dim)
        self.experience = Experience(config, self.layout, device)
        self.compensation = self.experience.compensation
        self.normalizer = Normalizer(obs_dim, act_dim, config.normalize_obs, device)
        self.reward = RewardTransform(
            config.reward_scale, config.reward_shift, config.reward_floor, self._log_reward(), config.normalize_reward
        )
        self.updates = 0
        self._init_rng = generator(torch.device("cpu"), seed)  # the same weights on every device
        self.learning_rng = generator(device, seed + 1)
        self.acting_rng = generator(torch.device("cpu"), seed + 2)
        self._make_networks()
        self.rating = Rating(config, self.experience, self._init_rng, device) if self._uses_ratio() else None
        averages = config.actor_average_tau < 1.0
        self.average_actor = self._make_actor() if averages else self.actor
        self.initial_actor = self._make_actor() if config.anchor else None
        self.restart_copies()
        self._rows = torch.empty(config.batch_size, self.layout.width, device=device)
        self._initial = torch.empty(config.initial_batch_size, obs_dim, device=device)
        self._readings: dict[str, Reading] = {}

    def _log_reward(self) -> bool:
        """Only OMPO's theory uses log r; the baselines use the reward itself."""
        return False

    def _uses_ratio(self) -> bool:
        """Whether R is used at all."""
        return self.config.replay_temper > 0.0

    def _make_actor(self) -> Actor:
        c = self.config
        log_std = (c.log_std_min, c.log_std_max)
        return Actor(self.obs_dim, self.act_dim, c.hidden_size, c.first_layer, log_std, self._init_rng, self.device)

    def _make_networks(self) -> None:
        c = self.config
        self.actor = self._make_actor()
        self.critic, self.target_critic = (
            Critic(self.obs_dim + self.act_dim, c.hidden_size, c.critics, c.first_layer, self._init_rng, self.device)
            for _ in range(2)
        )
        self.log_temperature = nn.Parameter(torch.tensor(c.initial_temperature, device=self.device).log())
        self.critic_optimizer = Adam(Group(self.critic.parameters(), c.critic_lr))
        # The temperature's loss does not depend on the actor's parameters, so one pass serves both.
        self.actor_optimizer = Adam(
            Group(self.actor.parameters(), c.actor_lr), Group([self.log_temperature], c.temperature_lr)
        )

    def compile(self) -> None:
        """Compile the networks' passes."""
        for module, inputs in ((self.critic, self.obs_dim + self.act_dim), (self.actor, self.obs_dim)):
            compiled(module, torch.zeros(self.config.batch_size, inputs, device=self.device))

    # -- experience ---------------------------------------------------------------------------------------------

    def observe(self, transitions: Transitions) -> None:
        """Add a batch to the buffers; a bad one raises InvalidData and adds nothing. Actions lie in [-1, 1]."""
        self.experience.add(transitions)
        self.normalizer.update(transitions.obs)
        self.reward.update(transitions.reward)

    def recall(self, transitions: Transitions) -> None:
        """Add recorded transitions of earlier runs; they do not count as steps of this run."""
        self.experience.recall(transitions)
        self.normalizer.update(transitions.obs)
        self.reward.update(transitions.reward)

    @property
    def ready(self) -> bool:
        """Whether `update` has data to learn from."""
        return self.experience.can_sample and self.experience.initial.size > 0

    @property
    def paced_steps(self) -> int:
        """Target transitions that updates are due for: of this run and of recorded ones."""
        return self.experience.seen[Origin.TARGET] + self.experience.recalled

    # -- learning -----------------------------------------------------------------------------------------------

    def update(self, n: int = 1) -> Metrics:
        """Make `n` updates; the metrics are those of the last one and cost nothing until read."""
        if n < 1:
            raise ValueError(f"n: {n} updates cannot be made, at least 1 is needed")
        if self.experience.global_.size == 0 and not self.experience.round_waits:
            raise EmptyBuffer("D_G is empty: observe transitions first")
        for _ in range(n):
            self._begin()
            self.updates += 1
            with_actor = self.updates % self.config.actor_period == 0
            self._step(with_actor)
            if with_actor and self.average_actor is not self.actor:
                track(self.average_actor, self.actor, self.config.actor_average_tau)
        return Metrics({**self._counters(), **self._readings})

    def _begin(self) -> None:
        """Do the work before an update: a slice of a round of D_L; without a discriminator the round just ends."""
        if self.rating is not None:
            self.rating.advance(self.normalizer, self.learning_rng)
            self._readings.update(self.rating.readings(self.normalizer))
        elif self.experience.round_waits:
            self.experience.finish_round()

    @abstractmethod
    def _step(self, with_actor: bool) -> None:
        """One update of the critics and, `with_actor`, of actor and target networks."""

    def compensate(self, gain: ArrayLike, bias: ArrayLike) -> None:
        """Cancel the drives' gains and biases from now on, if the settings want it."""
        if self.config.compensate:
            self.experience.compensate(gain, bias)

    def _sample(self) -> Tensor:
        rows = self.experience.sample_into(self._rows, self.learning_rng)
        self.normalizer.transition_(self.layout.transition(rows))
        return rows

    def _sample_initial(self) -> Tensor:
        return self.normalizer.obs_(self.experience.sample_initial_into(self._initial, self.learning_rng))

    def _explore(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Draw actions that the arm can follow, with gradients, and their log densities."""
        action, log_prob = self.actor.sample(obs, self.learning_rng)
        return self.compensation.reachable(action), log_prob

    def _anchor_loss(self, obs: Tensor) -> Tensor | float:
        """The cost of other actions than the initial networks', which keeps what critics do not know yet."""
        if self.initial_actor is None:
            return 0.0
        with torch.no_grad():
            initial = self.initial_actor.distribution(obs)[0].tanh()
        moved: Tensor = self.actor.distribution(obs)[0].tanh() - initial
        return self.config.anchor * moved.square().mean()

    @property
    def temperature(self) -> Tensor:
        """Weight of the entropy bonus, without gradient."""
        if self.config.entropy_temperature == "none":
            return torch.zeros_like(self.log_temperature)
        return self.log_temperature.detach().exp()

    def _temperature_loss(self, log_prob: Tensor) -> Tensor:
        """Raise the temperature while the policy's entropy is below its target."""
        if self.config.entropy_temperature != "auto":
            return 0.0 * self.log_temperature
        target = self.config.target_entropy_per_dim * self.act_dim
        return -self.log_temperature * (log_prob.detach().mean() + target)

    def restart_copies(self) -> None:
        """Set every averaged network, and the actor's anchor, to the learned one."""
        track(self.target_critic, self.critic, 1.0)
        track(self.average_actor, self.actor, 1.0)
        if self.initial_actor is not None:
            track(self.initial_actor, self.actor, 1.0)

    def _track_targets(self) -> None:
        track(self.target_critic, self.critic, self.config.target_tau)

    def _counters(self) -> dict[str, Reading]:
        experience = self.experience
        return {
            "updates": lambda: self.updates,
            "global_size": lambda: experience.global_.size,
            "local_size": lambda: experience.local.size,
            "demonstration_size": lambda: len(experience.places(Origin.DEMONSTRATION)),
            "rounds_skipped": lambda: experience.rounds_skipped,
        }

    # -- acting -------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: NDArray[np.float32], deterministic: bool = False) -> NDArray[np.float32]:
        """Choose actions in [-1, 1] for one observation or for rows of them.

        The learned actor explores, so that the data show its mistakes; deterministic actions come from its average.
        """
        if obs.shape[-1:] != (self.obs_dim,) or obs.ndim > 2:
            raise InvalidData("obs", f"has shape {obs.shape}, ({self.obs_dim},) or (n, {self.obs_dim}) is needed")
        if not np.isfinite(obs).all():
            raise InvalidData("obs", "is not finite")
        rows = torch.from_numpy(np.array(obs, np.float32, ndmin=2)).to(self.device)
        actor = self.average_actor if deterministic else self.actor
        mean, log_std = actor.distribution(self.normalizer.obs_(rows))
        if not deterministic:
            noise = torch.randn(mean.shape, generator=self.acting_rng).to(self.device)
            mean = torch.addcmul(mean, log_std.exp(), noise)
        action: NDArray[np.float32] = self.compensation.sent(mean.tanh()).cpu().numpy()
        return action.reshape(*obs.shape[:-1], self.act_dim)

    @property
    def rest_action(self) -> NDArray[np.float32]:
        """The action (act_dim,) that holds a still arm, by the gains and biases found so far."""
        still: NDArray[np.float32] = self.compensation.sent(torch.zeros(self.act_dim, device=self.device)).cpu().numpy()
        return still

    def actor_tensors(self, average: bool = True) -> dict[str, NDArray[np.float32]]:
        """The policy to deploy, or the one that explores, as arrays with its normaliser.

        It computes, in float32, with `@` the matrix product::

            x = clip((obs - obs_mean) * obs_scale, -obs_clip, obs_clip)
            x = first(x @ weight_0 + bias_0)                      first = elu, or, if `gain` is there,
                                                                  tanh(layernorm(.) * gain + offset), epsilon 1e-5
            x = elu(x @ weight_1 + bias_1)
            y = x @ weight_2 + bias_2
            mean, log_std = y[:act_dim], clip(y[act_dim:], log_std_min, log_std_max)
            x = tanh(mean)                                        deterministic, or tanh(mean + exp(log_std) * noise)
            action = clip((x - action_bias) / action_gain, -1, 1)

        Without `normalize_obs` mean is 0, scale 1 and the clip the greatest float32: one graph serves both.
        """
        tensors = {"obs_mean": self.normalizer.mean, "obs_scale": self.normalizer.scale}
        tensors["obs_clip"] = torch.tensor(self.normalizer.clip)
        tensors["action_gain"], tensors["action_bias"] = self.compensation.gain, self.compensation.bias
        tensors["log_std_min"], tensors["log_std_max"] = (torch.tensor(limit) for limit in self.actor.log_std)
        actor = self.average_actor if average else self.actor
        for name, values in actor.named.items():
            tensors[name] = values[0] if name.startswith("weight") else values[0, 0]
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}

    # -- state --------------------------------------------------------------------------------------------------

    def modules(self) -> dict[str, nn.Module]:
        """The networks in a checkpoint, by name."""
        modules: dict[str, nn.Module] = {
            "actor": self.actor,
            "critic": self.critic,
            "target_critic": self.target_critic,
        }
        if self.average_actor is not self.actor:
            modules["average_actor"] = self.average_actor
        if self.initial_actor is not None:
            modules["initial_actor"] = self.initial_actor
        if self.rating is not None:
            modules["discriminator"] = self.rating.discriminator
        return modules

    def optimizers(self) -> dict[str, Adam]:
        """The optimisers in a checkpoint, by name."""
        optimizers = {"actor": self.actor_optimizer, "critic": self.critic_optimizer}
        if self.rating is not None:
            optimizers["discriminator"] = self.rating.discriminator.optimizer
        return optimizers

    def flags(self) -> dict[str, int]:
        """The other counters and switches in a checkpoint."""
        if self.rating is None:
            return {}
        return {
            "discriminator_trained": int(self.rating.discriminator.trained),
            "discriminator_steps_left": self.rating.steps_left,
        }

    def set_flags(self, flags: dict[str, int]) -> None:
        """Restore what `flags` returned."""
        if self.rating is not None:
            self.rating.discriminator.trained = bool(flags["discriminator_trained"])
            self.rating.steps_left = flags["discriminator_steps_left"]
