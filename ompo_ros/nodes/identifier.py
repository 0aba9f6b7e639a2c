"""Identifies the arm's parameters from its transitions and publishes the domain for the sources."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ompo_msgs.msg import ArmBelief
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from ompo_ros.nodes.beliefs import belief_to_msg
from ompo_ros.nodes.parameters import IdentifierParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import BreaksOff, run
from ompo_ros.nodes.wire.run_end import end_with_run
from ompo_ros.nodes.wire.transition_intake import TransitionIntake
from ompo_ros.recording.warm_start import recorded_transitions
from ompo_ros.sim.belief import Belief, kept
from ompo_ros.sim.belief.coordinates import text_of
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.task.config_file import ConfigFileError
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions


class Identifier(Node):
    """Hears the arm's transitions, demonstrated ones too.

    The run's folder holds the result, `belief.yaml`, and all it follows from, `belief.npz`.
    """

    def __init__(self) -> None:
        super().__init__("identifier", **OVERRIDES)
        given = declare(self, IdentifierParameters)
        self._identity = Identity(self, given.run_id)
        task = Task(given.task, given.reward)
        self._contract = task.on(load_robot(given.robot))
        self._path = Path(given.run_dir).expanduser() / "belief.yaml"
        self._kept = self._path.with_suffix(".npz")
        self._belief, begun = self._begin(task, given)
        if given.half_life:
            self._belief.forget(given.half_life)
        self._recorded = bool(given.warm_start)
        if given.warm_start and begun is None:
            self._recall(given.warm_start)
        self._share = given.share
        self._fitted_steps, self._resting_until = self._belief.fitted_steps, 0.0
        self._publisher = self.create_publisher(ArmBelief, "belief", qos.LATCHED)
        if self._belief.is_known:
            self._publisher.publish(self._message())
        self._intake = TransitionIntake(self, self._take, self._identity, (Origin.TARGET, Origin.DEMONSTRATION))
        end_with_run(self, self._identity)
        self.get_logger().info(f"{begun or f'starting from domain {given.domain!r}'}, waiting for target transitions")

    def _begin(self, task: Task, given: IdentifierParameters) -> tuple[Belief, str | None]:
        """What an earlier start of this run left, and what is said of it: the whole belief, or else its domain."""
        belief = Belief(task, load_domain(given.domain), given.seed)
        domain = self._read()
        if domain is not None or self._kept.exists():
            try:
                kept.restore(belief, self._kept)
            except kept.UnusableBelief as error:
                self.get_logger().warning(f"the evidence of the run's belief is lost: {error}")
            else:
                return belief, f"continuing from {self._kept}, {belief.target_steps} steps"
        if domain is None:
            return belief, None
        belief.close()
        belief = Belief(task, load_domain(given.domain), given.seed, start=domain)
        return belief, f"continuing from {self._path} without its evidence"

    def _read(self) -> Domain | None:
        """The belief from an earlier start of this run, if there is one."""
        if not self._path.exists():
            return None
        try:
            return load_domain(self._path)
        except ConfigFileError as error:
            self.get_logger().warning(f"starting again, because the run's belief cannot be used: {error}")
            return None

    def _recall(self, paths: str) -> None:
        """Take the target's steps from recordings named in a text."""
        files, warn = [Path(path) for path in paths.split(",")], self.get_logger().warning
        recorded = recorded_transitions(files, self._contract, warn)
        if left_out := sum(not self._belief.recall(transitions) for transitions in recorded):
            warn(f"warm_start: the belief leaves out {left_out} batches without possible commands")

    def _take(self, transitions: Transitions) -> None:
        self._contract.bounds.check(transitions)
        self._belief.observe(transitions)

    def wanted(self) -> bool:
        """Whether there are new transitions since the last fit, and the pause after it is over."""
        is_rough = self._recorded and self._belief.fits == 1  # the first fit is a quick one
        return (is_rough or self._belief.target_steps > self._fitted_steps) and time.monotonic() >= self._resting_until

    def fit(self) -> None:
        """Fit once, publish and store the result, then pause so as to use no more than `share` of a core."""
        begun, self._fitted_steps = time.monotonic(), self._belief.target_steps
        self._recorded = self._recorded and not self._belief.is_known  # the second fit is the last that they ask for
        self._keep()  # a fit takes seconds, in which the node may be killed
        if self._belief.fit():
            self._report()
        ended = time.monotonic()
        self._resting_until = ended + (ended - begun) * (1.0 - self._share) / self._share

    def _report(self) -> None:
        belief, msg = self._belief, self._message()
        text = (
            f"after {msg.target_steps} target steps the next position is predicted to {msg.prediction_error:.1%} of a "
            f"step's motion, by the domain {belief.prior.name!r} to {msg.prior_prediction_error:.1%}"
        )
        self._keep()
        self._write(lambda: write_domain(belief.domain, self._path, f"A{text[1:]}."))
        self._publisher.publish(msg)
        self.get_logger().info(f"{text}; {text_of(belief.mean)}")

    def _message(self) -> ArmBelief:
        return belief_to_msg(self._belief, run_id=self._identity.run_id, stamp=self.get_clock().now().to_msg())

    def _keep(self) -> None:
        self._write(lambda: kept.keep(self._belief, self._kept))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as problem:
            self.get_logger().error(f"the belief cannot be written: {problem}", throttle_duration_sec=10.0)


def turn(node: Identifier, executor: SingleThreadedExecutor) -> None:
    """Fit between callbacks, in one thread; the streams queue messages meanwhile."""
    executor.spin_once(timeout_sec=0.1)
    if node.wanted():
        node.fit()


def main() -> None:
    """Identify until stopped."""
    run(Identifier, turn, lambda _: BreaksOff())


if __name__ == "__main__":
    main()
