"""SAC on the sources' transitions, with two classifiers of source against target."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ompo_ros.learning.discriminator import classification_loss
from ompo_ros.learning.networks import Discriminative, Standardization
from ompo_ros.learning.optimizer import Adam, Group
from ompo_ros.learning.sac import SAC
from ompo_ros.transitions import Origin

STANDARDIZED_BY = 4_096  # rows of D_G


class ClassifiedSAC(SAC):
    """The common part of DARC and SAC_IW: the log likelihood ratio of s' given s and a, target against sources.

    That is the logit of a classifier of (s, a, s') less that of one of (s, a). Their inputs are the discriminator's: in
    units of their deviations, so that the noise on them means something.
    """

    def _make_networks(self) -> None:
        super()._make_networks()
        inputs = self.obs_dim + self.act_dim
        self.standardization = Standardization(self.obs_dim, self.act_dim, self.device)
        self.with_next = Discriminative(inputs + self.obs_dim, self.config.hidden_size, self._init_rng, self.device)
        self.without_next = Discriminative(inputs, self.config.hidden_size, self._init_rng, self.device)
        parameters = (*self.with_next.parameters(), *self.without_next.parameters())
        self.classifier_optimizer = Adam(Group(parameters, self.config.discriminator_lr))
        self._target_rows = torch.empty(self.config.batch_size, self.layout.width, device=self.device)

    @property
    def ready(self) -> bool:
        """Whether D_G holds both sides of the comparison; many rows of one can replace all of the other's."""
        return all(len(self.experience.places(origin)) > 0 for origin in (Origin.SOURCE, Origin.TARGET))

    @property
    def corrects(self) -> bool:
        """Whether the classifiers have learned enough to be used."""
        return self.updates > self.config.classifier_warmup

    def _sample(self) -> Tensor:
        """Sample the sources' transitions for actor and critic; with the target's they also train the classifiers."""
        if self.updates == 1:
            self._standardize()
        source = self.experience.sample_origin_into(self._rows, Origin.SOURCE, self.learning_rng)
        target = self.experience.sample_origin_into(self._target_rows, Origin.TARGET, self.learning_rng)
        for rows in (source, target):
            self.normalizer.transition_(self.layout.transition(rows))
        self._update_classifiers(source, target)
        return source

    def _standardize(self) -> None:
        """Standardize the inputs by the data at the beginning of learning."""
        rows = torch.empty(STANDARDIZED_BY, self.layout.width, device=self.device)
        self.experience.sample_into(rows, self.learning_rng)
        self.standardization.fit(self.normalizer.transition_(self.layout.transition(rows)))

    def _update_classifiers(self, source: Tensor, target: Tensor) -> None:
        inputs = self.standardization(self.layout.transition(torch.cat((target, source))))
        noise = torch.randn(inputs.shape, generator=self.learning_rng, device=self.device)
        loss = self.classifiers_loss(torch.add(inputs, noise, alpha=self.config.classifier_noise), len(target))
        self.classifier_optimizer.descend(loss)
        self._readings.update(classifier_loss=loss.detach)

    def classifiers_loss(self, inputs: Tensor, targets: int) -> Tensor:
        """Cross-entropy of both classifiers; the first `targets` rows are the target's."""
        loss = torch.zeros((), device=self.device)
        for logit in (self.with_next(inputs), self.without_next(inputs[:, : -self.obs_dim])):
            loss = loss + classification_loss(logit[:targets], True).mean()
            loss = loss + classification_loss(logit[targets:], False).mean()
        return loss

    @torch.no_grad()
    def log_odds(self, rows: Tensor) -> Tensor:
        """Log likelihood ratio of the next state, target against sources."""
        inputs = self.standardization(self.layout.transition(rows))
        odds: Tensor = self.with_next(inputs) - self.without_next(inputs[:, : -self.obs_dim])
        return odds

    def modules(self) -> dict[str, nn.Module]:
        own = {"with_next": self.with_next, "without_next": self.without_next, "classified": self.standardization}
        return {**super().modules(), **own}

    def optimizers(self) -> dict[str, Adam]:
        return {**super().optimizers(), "classifier": self.classifier_optimizer}
