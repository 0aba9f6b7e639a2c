"""A distribution over the target's parameters, from its transitions alone; sources draw their arms from it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.sim.belief import coordinates
from ompo_ros.sim.belief.evidence import FEWEST, Evidence, Rows, numbers
from ompo_ros.sim.belief.fit import Gaussian, Matching
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData, Origin, Transitions

DELAYS: Final = (0, 1, 2)  # control steps that are considered
_ROWS: Final = 256  # matched in one iteration
_FEWEST_ROWS: Final = FEWEST // 2  # a delay with fewer is not fitted: steps without those before do not show it
_CHECKED: Final = 128  # held-out ones whose error is reported
_FEW_ROWS: Final = 64  # steps used to settle from a starting point
_SEARCHED_ROWS: Final = 32  # steps used to choose between starting points
_GOOD: Final = 0.1  # prediction error below which fits only continue from the last result
_ITERATIONS: Final = 8
_FIRST_ITERATIONS: Final = 4  # the first result is wanted at once, and the next ones improve it
_SETTLED: Final = 0.3  # of a deviation: a step below it ends the fit


@dataclass(frozen=True)
class PredictionError:
    """Error of held-out next positions relative to the motion in that step: 0 is exact, 1 is as bad as no motion."""

    belief: float
    prior: float


@dataclass
class _Hypothesis:
    """The fit under one delay of commands."""

    delay: int
    belief: Gaussian
    loss: float = np.inf  # of a recorded step


class Belief:
    """Mean and deviation of the parameters visible in the target's motion; all others keep the prior.

    One core, no threads. `fit` does a bounded amount of work, so that the caller keeps its own schedule.
    """

    def __init__(
        self,
        task: Task,
        prior: Domain | str,
        seed: int,
        *,
        start: Domain | None = None,
    ) -> None:
        """`start`, the domain of an earlier belief, is continued; `prior` is for comparison."""
        self.prior = load_domain(prior) if isinstance(prior, str) else prior
        if self.prior.drift:
            raise ValueError(f"the domain {self.prior.name!r} drifts: a belief needs a prior without drift")
        self._rng = np.random.default_rng(seed)
        self._evidence = Evidence(task)
        mean, deviation, base = coordinates.moments(self.prior)
        self._prior_mean = mean
        self._start, self._is_continued = start or self.prior, start is not None
        if start is not None:
            mean, deviation, _ = coordinates.moments(start)
        self._start_deviation = deviation
        self._wide = Gaussian(mean, np.diag(np.maximum(deviation, coordinates.WIDE) ** 2))
        self._matching = Matching(task, self.prior.simulator, base)
        self._hypotheses = [_Hypothesis(delay, self._wide) for delay in DELAYS]
        self._best = self._hypotheses[0]  # of those that the last fit improved: the others' losses are of older rows
        self._searched = 0  # transitions at the last search from other starting points
        self.fits = 0
        self.fitted_steps = 0  # transitions observed before the last fit
        self.prediction_error: PredictionError | None = None

    @property
    def target_steps(self) -> int:
        """Transitions observed."""
        return self._evidence.seen

    @property
    def mean(self) -> FloatArray:
        """Mean of each of `coordinates.NAMES`, in its unit."""
        return coordinates.to_values(self._best.belief.mean)

    @property
    def deviation(self) -> FloatArray:
        """Deviation of each, in its unit; before the first fit that of the starting domain."""
        return coordinates.spread(self._best.belief.mean, self._deviation())

    @property
    def delay(self) -> int:
        """The most likely number of control steps until a command acts."""
        return self._best.delay if self.fits else coordinates.delay_of(self._start)

    @property
    def trusted(self) -> bool:
        """Whether it predicts held-out steps better than the prior does."""
        error = self.prediction_error
        return error is not None and error.belief < error.prior

    @property
    def is_known(self) -> bool:
        """Whether it is more than the prior."""
        return self.fits > 0 or self._is_continued

    @property
    def domain(self) -> Domain:
        """The domain for the sources; the starting domain until there is enough data to fit."""
        if not self.fits:
            return self._start
        return coordinates.believed(self.prior, self.mean, self.deviation, self.delay)

    def observe(self, transitions: Transitions) -> None:
        """Add transitions of the target, by whomever; only joint positions, velocities and commands are used."""
        if transitions.origin is Origin.SOURCE:
            raise ValueError("a belief needs transitions of the target, these are a source's")
        self._evidence.add(transitions)

    def recall(self, recorded: Transitions) -> bool:
        """Observe what is recorded of a target, passing over sources; False if it has no possible commands."""
        if recorded.origin is Origin.SOURCE:
            return True
        try:
            self.observe(recorded)
        except InvalidData:
            return False
        return True

    def forget(self, half_life: float) -> None:
        """Halve the weight of evidence after so many transitions, for an arm that changes."""
        self._evidence.half_life = half_life

    def fit(self, seconds: float | None = None) -> bool:
        """Improve the distribution with all observations, in about `seconds`; False if they show too little."""
        if self._evidence.seen < FEWEST:
            return False
        likely = [hypothesis for hypothesis in self._likely() if self._can_fit(hypothesis.delay)]
        if not likely:
            return False
        begun, starts = time.perf_counter(), self._starts()
        for hypothesis in likely:
            self._improve(hypothesis, starts, None if seconds is None else begun + seconds)
        self._best = min(likely, key=lambda hypothesis: hypothesis.loss)
        self.fits += 1
        self.fitted_steps = self._evidence.seen
        self.prediction_error = self._check()
        return True

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Evidence and fits, for `restore`."""
        error = self.prediction_error
        return {
            **self._evidence.arrays(),
            "means": np.stack([each.belief.mean for each in self._hypotheses]),
            "covariances": np.stack([each.belief.covariance for each in self._hypotheses]),
            "losses": np.array([each.loss for each in self._hypotheses]),
            "wide_mean": self._wide.mean,
            "wide_covariance": self._wide.covariance,
            "counts": np.array([self.fits, self.fitted_steps, self._searched, self._best.delay]),
            "errors": np.array([] if error is None else [error.belief, error.prior]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue where `arrays` was called; KeyError or ValueError if they are not such, and nothing is changed."""
        n, size = len(DELAYS), coordinates.SIZE
        means, covariances = numbers(arrays, "means", (n, size)), numbers(arrays, "covariances", (n, size, size))
        wide = Gaussian(numbers(arrays, "wide_mean", (size,)), numbers(arrays, "wide_covariance", (size, size)))
        fits, fitted_steps, searched, delay = (int(count) for count in numbers(arrays, "counts", (4,)))
        errors = [float(error) for error in numbers(arrays, "errors", (2 if fits else 0,))]
        losses = [float(loss) for loss in arrays["losses"].reshape(n)]
        if np.isnan(losses).any():
            raise ValueError("losses are not numbers")
        best = DELAYS.index(delay)
        self._evidence.restore(arrays)
        self._wide = wide
        self._hypotheses = [_Hypothesis(DELAYS[i], Gaussian(means[i], covariances[i]), losses[i]) for i in range(n)]
        self._best = self._hypotheses[best]
        self.fits, self.fitted_steps, self._searched = fits, fitted_steps, searched
        self.prediction_error = PredictionError(*errors) if errors else None

    def close(self) -> None:
        self._matching.close()

    def _likely(self) -> list[_Hypothesis]:
        """The delays still worth fitting; one that fits worse by 100 nats over all steps is dropped."""
        most = self._best.loss + 100.0 / max(self._evidence.seen, 1)
        return [each for each in self._hypotheses if np.isinf(each.loss) or not each.loss > most]

    def _can_fit(self, delay: int) -> bool:
        """Whether there are enough rows, and some to check the result by."""
        rows = self._evidence.rows
        return len(rows(delay, held_out=False)) >= _FEWEST_ROWS and len(rows(delay, held_out=True)) > 0

    def _starts(self) -> list[FloatArray]:
        """Other points to fit from, after the first fit until the error is small, whenever the evidence has doubled."""
        error, seen = self.prediction_error, self._evidence.seen
        if error is None or error.belief < _GOOD or seen < 2 * self._searched:
            return []
        self._searched = seen
        return coordinates.drives(self._wide.mean)

    def _improve(self, hypothesis: _Hypothesis, starts: list[FloatArray], until: float | None) -> None:
        """Continue the better of the last fit and one from `starts`."""
        rows = self._some(self._evidence.rows(hypothesis.delay, held_out=False), _ROWS)
        if starts:
            few = self._some(rows, _FEW_ROWS)
            start = Gaussian(self._search(starts, few), self._wide.covariance)
            means = [hypothesis.belief.mean, self._settle(start, few, until).mean]
            hypothesis.belief = Gaussian(self._matching.best_of(means, self._wide, rows), self._wide.covariance)
        hypothesis.belief = self._settle(hypothesis.belief, rows, until)
        hypothesis.loss = float(self._matching.losses(hypothesis.belief.mean[None], self._wide, rows).sum())

    def _search(self, starts: list[FloatArray], rows: Rows) -> FloatArray:
        """Fit gains and biases to each of the drives, and choose the best drive of each joint."""
        free = coordinates.only_commands(self._wide.covariance)
        rows, fitted = self._some(rows, _SEARCHED_ROWS), []
        for start in starts:
            mean = start
            for _ in range(2):  # a step's length is limited
                mean = self._matching.improve(mean, Gaussian(start, free), rows).mean
            fitted.append(mean)
        return self._matching.best_of(fitted, self._wide, rows)

    def _settle(self, belief: Gaussian, rows: Rows, until: float | None) -> Gaussian:
        """Iterate until the mean converges or time is up, at least once to get the covariance."""
        for _ in range(_ITERATIONS if self.fits else _FIRST_ITERATIONS):
            begun, before = time.perf_counter(), belief.mean
            belief = self._matching.improve(before, self._wide, rows)
            moved = np.abs(belief.mean - before) / np.maximum(belief.deviation, coordinates.NARROW)
            now = time.perf_counter()
            if moved.max() < _SETTLED or (until is not None and 2 * now - begun > until):
                break
        return belief

    def _some(self, rows: Rows, count: int) -> Rows:
        """Draw at most `count` rows in proportion to their weight."""
        if len(rows) <= count:
            return rows
        chosen = self._rng.choice(len(rows), count, replace=False, p=rows.weight / rows.weight.sum())
        return rows.take(np.sort(chosen))

    def _check(self) -> PredictionError | None:
        best = self._best
        rows = self._evidence.rows(best.delay, held_out=True)
        if not len(rows):  # those it was fitted to are forgotten, and new ones tell nothing of its delay
            return self.prediction_error
        rows = rows.take(np.arange(len(rows))[-_CHECKED:])
        vectors = np.stack((best.belief.mean, self._prior_mean))
        predicted = self._matching.predict(vectors, rows)[..., :JOINTS]
        weight = rows.weight[:, None]  # an arm that changes is judged by what is remembered
        errors = np.sqrt((weight * np.square(predicted - rows.after[:, :JOINTS])).sum(axis=(1, 2)))
        motion = np.sqrt((weight * np.square(rows.after[:, :JOINTS] - rows.state[:, :JOINTS])).sum())
        belief, prior = (errors / max(motion, 1e-9)).tolist()
        return PredictionError(belief, prior)

    def _deviation(self) -> FloatArray:
        if not self.fits:
            return self._start_deviation
        return np.maximum(self._best.belief.deviation, coordinates.NARROW)
