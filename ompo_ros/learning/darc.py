"""DARC (Eysenbach et al. 2021): SAC on the sources, its reward corrected by two classifiers of the dynamics."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ompo_ros.learning.discriminator import classification_loss
from ompo_ros.learning.networks import Discriminative
from ompo_ros.learning.optimizer import Adam, Group
from ompo_ros.learning.sac import SAC
from ompo_ros.transitions import Origin


class DARC(SAC):
    """Adds log p(target | s, a, s') / p(source | s, a, s') - log p(target | s, a) / p(source | s, a) to the reward."""

    def _make_networks(self) -> None:
        super()._make_networks()
        inputs = self.obs_dim + self.act_dim
        self.with_next = Discriminative(inputs + self.obs_dim, self.config.hidden_size, self._init_rng, self.device)
        self.without_next = Discriminative(inputs, self.config.hidden_size, self._init_rng, self.device)
        parameters = (*self.with_next.parameters(), *self.without_next.parameters())
        self.classifier_optimizer = Adam(Group(parameters, self.config.discriminator_lr))
        self._target_rows = torch.empty(self.config.batch_size, self.layout.width, device=self.device)

    @property
    def ready(self) -> bool:
        """Whether D_G holds both origins: a flood of one can drive the other out of it."""
        return all(len(self.experience.places(origin)) > 0 for origin in Origin)

    def _sample(self) -> Tensor:
        """Take sources' transitions for actor and critic; with the target's they also teach the classifiers."""
        source = self.experience.sample_origin_into(self._rows, Origin.SOURCE, self.learning_rng)
        target = self.experience.sample_origin_into(self._target_rows, Origin.TARGET, self.learning_rng)
        for rows in (source, target):
            self.normalizer.transition_(self.layout.transition(rows))
        self._update_classifiers(source, target)
        return source

    def _update_classifiers(self, source: Tensor, target: Tensor) -> None:
        rows = torch.cat((target, source))
        noise = torch.randn(rows.shape, generator=self.learning_rng, device=self.device)
        rows = torch.add(rows, noise, alpha=self.config.classifier_noise)
        loss = self.classifiers_loss(rows, len(target))
        self.classifier_optimizer.descend(loss)
        self._readings.update(classifier_loss=loss.detach)

    def classifiers_loss(self, rows: Tensor, targets: int) -> Tensor:
        """Cross-entropy of both classifiers; the first `targets` rows are the target's."""
        loss = torch.zeros((), device=self.device)
        for logit in (self.with_next(self.layout.transition(rows)), self.without_next(self.layout.obs_action(rows))):
            loss = loss + classification_loss(logit[:targets], True).mean()
            loss = loss + classification_loss(logit[targets:], False).mean()
        return loss

    @torch.no_grad()
    def correction(self, rows: Tensor) -> Tensor:
        """Δr: how much likelier the target makes this next state."""
        delta: Tensor = self.with_next(self.layout.transition(rows)) - self.without_next(self.layout.obs_action(rows))
        return delta

    def _reward(self, rows: Tensor) -> Tensor:
        reward = super()._reward(rows)
        if self.updates <= self.config.classifier_warmup:
            return reward
        correction = self.correction(rows)
        self._readings.update(correction=correction.mean)
        return reward + correction

    def modules(self) -> dict[str, nn.Module]:
        return {**super().modules(), "with_next": self.with_next, "without_next": self.without_next}

    def optimizers(self) -> dict[str, Adam]:
        return {**super().optimizers(), "classifier": self.classifier_optimizer}
