"""Fits the simulator to recorded control steps: Gauss-Newton, slopes from arms that differ in one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.sim.belief import coordinates
from ompo_ros.sim.belief.evidence import Rows
from ompo_ros.sim.domain import Simulator
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.task.kinematics import JOINT_HIGH, JOINT_LOW, FloatArray
from ompo_ros.task.robot import JOINTS
from ompo_ros.task.tasks import CONTROL_RATE, INCREMENT, Task

_GAIN: Final = coordinates.slice_of("action_gain")
_BIAS: Final = coordinates.slice_of("action_bias")
_PHYSICAL: Final = np.arange(_GAIN.start)  # parameters of the arm itself; gain and bias act only through commands
_SHYNESS: Final = (0.0, 0.03, 0.3, 3.0)  # damping factors of the information's diagonal: each shortens the step
_LONGEST: Final = coordinates.LONGEST
_NUDGE: Final = 0.01  # rad of a command, for slopes
_FREEDOM: Final = 4.0  # of Student's distribution: contacts and lost states must not dominate
_LEAST_SCALE: Final = np.repeat((1e-4, 5e-3), JOINTS)  # rad, rad/s: smaller residuals are rounding errors
# Where a simulator cannot follow the arm, it fits the way covered better than the velocity at its end.
_WEIGHT: Final = np.repeat((1.0, 0.1), JOINTS)  # of positions and velocities
_CORRELATED: Final = 4.0  # neighbouring steps have correlated errors: so many count as one


@dataclass(frozen=True)
class Gaussian:
    """Mean (SIZE,) and covariance (SIZE, SIZE) of the parameter vector."""

    mean: FloatArray
    covariance: FloatArray

    @property
    def deviation(self) -> FloatArray:
        return np.sqrt(np.diag(self.covariance))


class Matching:
    """Simulates recorded states and commands, and compares the result one control step later."""

    def __init__(self, task: Task, simulator: Simulator, base: FloatArray) -> None:
        """`base` holds every parameter's value (COLUMN_COUNT,); the identified ones are replaced."""
        self._base = base
        self._arms = MujocoArms(task, 1 + JOINTS + len(_PHYSICAL), simulator, threads=1)
        self._substeps = round(1.0 / CONTROL_RATE / simulator.timestep)

    def close(self) -> None:
        self._arms.close()

    def predict(self, vectors: FloatArray, rows: Rows, nudges: FloatArray | None = None) -> FloatArray:
        """States (n, rows, 14) after a step of the arms in vectors (n, SIZE); nudges (n, 7) move commands."""
        values = coordinates.table(self._base, vectors)
        self._arms.apply(np.arange(len(vectors)), values)
        gain, bias = values["action_gain"][:, None], values["action_bias"][:, None]
        targets = np.clip(rows.origin + gain * (rows.command - rows.origin) + INCREMENT * bias, JOINT_LOW, JOINT_HIGH)
        if nudges is not None:
            targets = targets + nudges[:, None]
        return self._arms.predict(rows.state[:, :JOINTS], rows.state[:, JOINTS:], targets, self._substeps)

    def improve(self, mean: FloatArray, prior: Gaussian, rows: Rows) -> Gaussian:
        """Take a Gauss-Newton step from `mean` for the rows and the prior; the fit never gets worse."""
        residual, slopes = self._slopes(mean, rows)
        scale = _scales(residual, rows.weight)
        surprise = (residual / scale) ** 2
        trust = rows.weight[:, None] * (_FREEDOM + 1.0) / (_FREEDOM + surprise) / scale**2 / _CORRELATED * _WEIGHT
        precision = np.linalg.inv(prior.covariance)
        information = np.einsum("rok,ro,rol->kl", slopes, trust, slopes) + precision
        pull = np.einsum("rok,ro->k", slopes, trust * residual) - precision @ (mean - prior.mean)
        steps = [np.linalg.solve(information + np.diag(shy * np.diag(information)), pull) for shy in _SHYNESS]
        tried = [coordinates.bounded(mean + np.clip(step, -_LONGEST, _LONGEST)) for step in steps]
        return Gaussian(self.best_of([mean, *tried], prior, rows), np.linalg.inv(information))

    def best_of(self, means: list[FloatArray], prior: Gaussian, rows: Rows) -> FloatArray:
        """Choose the best mean, or combine the best parameters of each joint."""
        losses = self.losses(np.stack(means), prior, rows)
        mixed = means[int(losses.sum(axis=1).argmin())].copy()
        for joint in range(JOINTS):
            own = np.equal(coordinates.JOINT, joint)
            mixed[own] = means[int(losses[:, joint].argmin())][own]
        losses = np.concatenate((losses, self.losses(mixed[None], prior, rows)))
        best: FloatArray = [*means, mixed][int(losses.sum(axis=1).argmin())]
        return best

    def losses(self, means: FloatArray, prior: Gaussian, rows: Rows) -> FloatArray:
        """Loss of n means for each joint per step (n, 8); the last column is the distance from the prior."""
        residual = rows.after - self.predict(means, rows)
        off = (means - prior.mean) / prior.deviation
        strain = 0.5 * (off**2).sum(axis=1) * _CORRELATED / rows.weight.sum()
        return np.column_stack([np.stack([_loss(each, rows.weight) for each in residual]), strain])

    def _slopes(self, mean: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Residuals (rows, 14) and the derivatives of the prediction (rows, 14, SIZE)."""
        count = 1 + JOINTS + len(_PHYSICAL)
        vectors = np.tile(mean, (count, 1))
        nudges = np.zeros((count, JOINTS))
        nudges[1 : 1 + JOINTS] = _NUDGE * np.eye(JOINTS)
        probed = 1 + JOINTS + np.arange(len(_PHYSICAL))
        probes = coordinates.probes(mean)[_PHYSICAL]
        vectors[probed, _PHYSICAL] += probes
        predicted = self.predict(vectors, rows, nudges)
        changes = np.moveaxis(predicted[1:] - predicted[0], 0, -1)
        by_command, by_physics = changes[..., :JOINTS] / _NUDGE, changes[..., JOINTS:]
        slopes: FloatArray = np.empty((len(rows), 2 * JOINTS, coordinates.SIZE))
        slopes[..., _PHYSICAL] = by_physics / probes
        slopes[..., _GAIN] = by_command * (rows.command - rows.origin)[:, None]
        slopes[..., _BIAS] = by_command * INCREMENT
        return rows.after - predicted[0], slopes


def _loss(residual: FloatArray, weight: FloatArray) -> FloatArray:
    """Negative log likelihood (7,) of each joint's positions and velocities, without constants."""
    scale = _scales(residual, weight)
    each = 0.5 * (_FREEDOM + 1.0) * np.log1p((residual / scale) ** 2 / _FREEDOM) + np.log(scale)
    mean: FloatArray = np.average(each, axis=0, weights=weight) * _WEIGHT
    return mean[:JOINTS] + mean[JOINTS:]


def _scales(residual: FloatArray, weight: FloatArray) -> FloatArray:
    """Typical error of each of the 14 values, from the median, so that contacts do not matter."""
    order = np.argsort(np.abs(residual), axis=0)
    passed = np.cumsum(weight[order], axis=0)
    middle = np.argmax(passed >= passed[-1] / 2.0, axis=0)
    median = np.abs(residual)[order[middle, np.arange(residual.shape[1])], np.arange(residual.shape[1])]
    scales: FloatArray = np.maximum(median / 0.6745, _LEAST_SCALE)
    return scales
