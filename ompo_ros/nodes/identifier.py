"""Identifies the arm's parameters from its transitions and publishes the domain for the sources."""

from __future__ import annotations

import time
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
from ompo_ros.sim.belief import Belief
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.task.config_file import ConfigFileError
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions


class Identifier(Node):
    """Hears the arm's transitions, demonstrated ones too; `belief.yaml` in the run's folder holds the result."""

    def __init__(self) -> None:
        super().__init__("identifier", **OVERRIDES)
        given = declare(self, IdentifierParameters)
        self._identity = Identity(self, given.run_id)
        task = Task(given.task, given.reward)
        self._contract = task.on(load_robot(given.robot))
        self._path = Path(given.run_dir).expanduser() / "belief.yaml"
        resumed = self._read()
        self._belief = Belief(task, load_domain(given.domain), given.seed, start=resumed)
        if given.half_life:
            self._belief.forget(given.half_life)
        self._recorded = 0
        if resumed is None and given.warm_start:
            self._recall(given.warm_start)
        self._share = given.share
        self._fitted_steps, self._resting_until = 0, 0.0
        self._publisher = self.create_publisher(ArmBelief, "belief", qos.LATCHED)
        self._intake = TransitionIntake(self, self._take, self._identity, (Origin.TARGET, Origin.DEMONSTRATION))
        end_with_run(self, self._identity)
        begun = f"continuing from {self._path}" if resumed else f"starting from domain {given.domain!r}"
        self.get_logger().info(f"{begun}, waiting for target transitions")

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
        files = [Path(path) for path in paths.split(",")]
        for transitions in recorded_transitions(files, self._contract, self.get_logger().warning):
            if transitions.origin is not Origin.SOURCE:
                self._belief.observe(transitions)
        self._recorded = self._belief.target_steps

    def _take(self, transitions: Transitions) -> None:
        self._contract.bounds.check(transitions)
        self._belief.observe(transitions)

    def wanted(self) -> bool:
        """Whether there are new transitions since the last fit, and the pause after it is over."""
        is_rough = bool(self._recorded) and self._belief.fits == 1  # the first fit is a quick one
        return (is_rough or self._belief.target_steps > self._fitted_steps) and time.monotonic() >= self._resting_until

    def fit(self) -> None:
        """Fit once, publish and store the result, then pause so as to use no more than `share` of a core."""
        begun, self._fitted_steps = time.monotonic(), self._belief.target_steps
        if self._belief.fit():
            self._report()
        ended = time.monotonic()
        self._resting_until = ended + (ended - begun) * (1.0 - self._share) / self._share

    def _report(self) -> None:
        belief = self._belief
        msg = belief_to_msg(belief, run_id=self._identity.run_id, stamp=self.get_clock().now().to_msg())
        text = (
            f"after {msg.target_steps} target steps the next position is predicted to {msg.prediction_error:.1%} of a "
            f"step's motion, by the domain {belief.prior.name!r} to {msg.prior_prediction_error:.1%}"
        )
        try:
            write_domain(belief.domain, self._path, f"A{text[1:]}.")
        except OSError as problem:
            self.get_logger().error(f"{self._path} cannot be written: {problem}", throttle_duration_sec=10.0)
        self._publisher.publish(msg)
        self.get_logger().info(text)


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
