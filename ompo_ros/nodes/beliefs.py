"""Converts a belief about the arm to its message, and a checked message to a domain."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from ompo_msgs.msg import ArmBelief

from ompo_ros.sim.belief import Belief, PredictionError
from ompo_ros.sim.belief.coordinates import HIGH, LOW, NAMES, SIZE, believed
from ompo_ros.sim.domain import Domain
from ompo_ros.sim.parameters import PARAMETERS
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.transitions import InvalidData


def belief_to_msg(belief: Belief, *, run_id: str, stamp: Time) -> ArmBelief:
    """The message of a belief; one that goes on from a domain and is not fitted yet does not know its error."""
    if not belief.is_known:
        raise ValueError("the belief has not been fitted yet")
    error = belief.prediction_error or PredictionError(float("nan"), float("nan"))
    return ArmBelief(
        stamp=stamp,
        run_id=run_id,
        target_steps=belief.target_steps,
        fits=belief.fits,
        names=list(NAMES),
        means=belief.mean.tolist(),
        deviations=belief.deviation.tolist(),
        command_delay=belief.delay,
        prediction_error=error.belief,
        prior_prediction_error=error.prior,
    )


def check_belief(msg: ArmBelief) -> None:
    """Raises InvalidData unless the message has a possible mean and deviation for each of our parameters."""
    if tuple(msg.names) != NAMES:
        raise InvalidData("names", "are not those of this version's parameters")
    _require_range("means", np.asarray(msg.means), LOW, HIGH)
    _require_range("deviations", np.asarray(msg.deviations), np.zeros(SIZE), np.full(SIZE, np.inf))
    delay = PARAMETERS["command_delay"]
    if not delay.low <= msg.command_delay <= delay.high:
        raise InvalidData("command_delay", f"is {msg.command_delay}, {delay.low:g} to {delay.high:g} is possible")


def domain_from_msg(msg: ArmBelief, prior: Domain) -> Domain:
    """The domain for sources of a `prior`; raises InvalidData with the field's name if the message is wrong."""
    check_belief(msg)
    return believed(prior, np.asarray(msg.means), np.asarray(msg.deviations), msg.command_delay)


def _require_range(field: str, values: FloatArray, low: FloatArray, high: FloatArray) -> None:
    if values.shape != (SIZE,) or not np.isfinite(values).all():
        raise InvalidData(field, f"{SIZE} finite numbers are needed")
    if (beyond := (values < low) | (values > high)).any():
        place = int(np.argmax(beyond))
        raise InvalidData(field, f"{NAMES[place]} is {values[place]:g}, {low[place]:g} to {high[place]:g} is possible")
