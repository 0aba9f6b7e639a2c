"""When a policy may run unattended: decisions from measurements alone, each with the sentence that goes into the log.

Success on the target is judged by stated tests (docs/policies.md), never by comparing two rates as they stand.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ompo_ros.policy.actor import Float32Array
from ompo_ros.policy.artifact import CheckedPolicy
from ompo_ros.policy.graph import TOLERANCE
from ompo_ros.task.acting import Evaluation, count_episodes

GRID = 20_000  # cells of a success rate's posterior: six a deviation with the most episodes that can be sent
_BORDERS = np.sin(np.linspace(0.0, np.pi / 2.0, GRID + 1)) ** 2  # closer where posteriors are narrower, near 0 and 1
_ANGLES = (np.arange(GRID) + 0.5) * np.pi / (2.0 * GRID)


@dataclass(frozen=True)
class GateSettings:
    """How careful to be."""

    margin: float = 0.1  # loss of success rate that is not worth refusing a policy for
    confidence: float = 0.8  # wanted probability of being within that margin
    min_success: float = 0.5  # of the first policy, which has none to be compared with
    roughness_factor: float = 2.0  # times stable's own roughness
    max_roughness: float = 0.5  # largest mean change of an action's entries in one step, where there is no stable
    smooth: float = 0.1  # roughness that is never refused
    window: int = 20  # running episodes of stable that are looked at
    min_window: int = 4  # below this nothing is concluded
    alpha: float = 0.001  # chance of calling an unchanged success rate fallen, at one look


@dataclass(frozen=True)
class Verdict:
    """A decision and its reason."""

    passed: bool
    reason: str


def judge_behaviour(
    candidate: CheckedPolicy,
    stable: CheckedPolicy | None,
    obs: Float32Array,
    next_obs: Float32Array,
    settings: GateSettings,
) -> Verdict:
    """Parity, action bounds and smoothness, on consecutive observations recorded on the target."""
    error = candidate.manifest.parity.max_error
    if not error <= TOLERANCE:
        return Verdict(False, f"parity error {error:.1e} is above {TOLERANCE:.0e}")
    largest, rough = _behaviour(candidate, obs, next_obs)
    limit = candidate.manifest.contract.action_limit
    if not largest <= limit:
        return Verdict(False, f"an action reaches {largest:.3g}, {limit:g} is allowed")
    allowed = settings.max_roughness
    if stable is not None:
        allowed = max(settings.smooth, settings.roughness_factor * _behaviour(stable, obs, next_obs)[1])
    if not rough <= allowed:
        return Verdict(False, f"actions change by {rough:.3f} a step on average, {allowed:.3f} is allowed")
    return Verdict(True, f"parity {error:.1e}, actions within {largest:.2f}, changing by {rough:.3f} a step")


def judge_success(candidate: Evaluation, stable: Evaluation | None, settings: GateSettings) -> Verdict:
    """Accept what is probably not worse than stable; without one, what probably succeeds often enough."""
    said = f"{candidate.successes}/{candidate.episodes} episodes succeed"
    if stable is None:
        probability = probability_at_least(candidate, settings.min_success)
        claim = f"P(success >= {settings.min_success:g}) = {probability:.3f}"
    else:
        probability = probability_not_worse(candidate, stable, settings.margin)
        said += f", stable's {stable.successes}/{stable.episodes}"
        claim = f"P(success >= stable's - {settings.margin:g}) = {probability:.3f}"
    passed = probability >= settings.confidence
    return Verdict(passed, f"{said}: {claim}, {settings.confidence:g} is needed")


def judge_stable(running: Evaluation, proven: Evaluation, settings: GateSettings) -> Verdict:
    """Whether stable still does what it did when it was proven."""
    p = drop_significance(running, proven)
    now, before = (f"{e.successes}/{e.episodes}" for e in (running, proven))
    said = f"{now} of its last episodes succeeded, {before} did when it was proven"
    passed = running.episodes < settings.min_window or p >= settings.alpha
    return Verdict(passed, f"{said}: Fisher's exact p = {p:.2g}, below {settings.alpha:g} is a drop")


class RunningSuccess:
    """The last episodes that stable played."""

    def __init__(self, window: int) -> None:
        self._episodes: deque[tuple[bool, float]] = deque(maxlen=window)

    def extend(self, episodes: Iterable[tuple[bool, float]]) -> None:
        """Take in pairs of success and return."""
        self._episodes.extend(episodes)

    def clear(self) -> None:
        self._episodes.clear()

    @property
    def evaluation(self) -> Evaluation | None:
        return count_episodes(self._episodes)


# -- the tests ------------------------------------------------------------------------------------------------------


def probability_at_least(evaluation: Evaluation, rate: float) -> float:
    """P(p >= rate) where the success rate p has a uniform prior."""
    return float(1.0 - _below(evaluation, np.array(rate)))


def probability_not_worse(candidate: Evaluation, stable: Evaluation, margin: float) -> float:
    """P(p_candidate >= p_stable - margin), both with uniform priors."""
    reached = np.minimum(1.0, np.sin(_ANGLES) ** 2 + margin)
    return min(1.0, float(_posterior(candidate) @ _below(stable, reached)))


def drop_significance(now: Evaluation, before: Evaluation) -> float:
    """Fisher's exact test, one-sided: the chance of so few successes now if nothing has changed."""
    total = now.episodes + before.episodes
    successes = now.successes + before.successes
    ways = math.comb(total, now.episodes)
    low = max(0, now.episodes - (total - successes))
    found = range(low, now.successes + 1)
    return sum(math.comb(successes, k) * math.comb(total - successes, now.episodes - k) for k in found) / ways


def _behaviour(policy: CheckedPolicy, obs: Float32Array, next_obs: Float32Array) -> tuple[float, float]:
    """Largest entry of an action, and the mean change of an entry from one step to the next."""
    before, after = policy.actor.forward(obs)[0], policy.actor.forward(next_obs)[0]
    return float(max(np.abs(before).max(), np.abs(after).max())), float(np.abs(after - before).mean())


def _posterior(evaluation: Evaluation) -> NDArray[np.float64]:
    """Probability of each cell under Beta(k + 1, n - k + 1)."""
    k, n = evaluation.successes, evaluation.episodes
    log = (2 * k + 1) * np.log(np.sin(_ANGLES)) + (2 * (n - k) + 1) * np.log(np.cos(_ANGLES))
    mass = np.exp(log - log.max())
    return np.asarray(mass / mass.sum())


def _below(evaluation: Evaluation, rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(p < rate)."""
    return np.interp(rate, _BORDERS, np.concatenate(([0.0], np.cumsum(_posterior(evaluation)))))
