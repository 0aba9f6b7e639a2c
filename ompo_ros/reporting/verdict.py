"""Whether adaptation worked, by how much and how sure that is, from the evaluations before and after it."""

from __future__ import annotations

import math

from ompo_ros.reporting.record import RecordedEvaluation

_Z = 1.959964  # of a 95 % interval


def wilson(successes: int, episodes: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a success rate."""
    p, n, z2 = successes / episodes, episodes, _Z**2
    centre, width = p + z2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - width) / (1 + z2 / n)), min(1.0, (centre + width) / (1 + z2 / n))


def gain(before: RecordedEvaluation, after: RecordedEvaluation) -> tuple[float, float]:
    """Newcombe's 95 % interval of the difference of two success rates, from their Wilson intervals."""
    p, q = before.success_rate, after.success_rate
    (p_low, p_high), (q_low, q_high) = _interval(before), _interval(after)
    return q - p - math.hypot(q - q_low, p_high - p), q - p + math.hypot(q_high - q, p - p_low)


def verdict(before: RecordedEvaluation | None, after: RecordedEvaluation | None) -> str:
    """Say it in words."""
    if before is None or after is None or not before.episodes or not after.episodes:
        missing = [name for name, value in (("before", before), ("after", after)) if not value or not value.episodes]
        return f"Whether adaptation worked is not known: nothing was evaluated {' and '.join(missing)} the run."
    low, high = gain(before, after)
    change = 100 * (after.success_rate - before.success_rate)
    if low > 0:
        claim = f"Adaptation worked: success rose by {change:.0f} points"
    elif high < 0:
        claim = f"Adaptation did harm: success fell by {-change:.0f} points"
    else:
        claim = f"No change is proven: success changed by {change:+.0f} points"
    more = "" if low > 0 or high < 0 else " More evaluated episodes (episodes_before, episodes_after) narrow it."
    return (
        f"{claim}, from {_shown(before)} to {_shown(after)}. "
        f"With 95% confidence the change lies between {100 * low:+.0f} and {100 * high:+.0f} points.{more}"
    )


def _interval(evaluation: RecordedEvaluation) -> tuple[float, float]:
    return wilson(evaluation.successes, evaluation.episodes)


def _shown(evaluation: RecordedEvaluation) -> str:
    low, high = _interval(evaluation)
    return f"{evaluation.success_rate:.0%} of {evaluation.episodes} episodes (95% interval {low:.0%} to {high:.0%})"
