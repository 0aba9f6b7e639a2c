"""Turns transitions into a policy: fills the buffers, trains, publishes actors, writes checkpoints."""

from __future__ import annotations

import contextlib
import time
from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from ompo_msgs.msg import ActorWeights, ArmBelief, EpisodeSummary, LearnerStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from ompo_ros.learning import make_agent
from ompo_ros.learning.learner_folder import LearnerFolder
from ompo_ros.learning.pretrained import load_networks
from ompo_ros.learning.recovery import Recovery
from ompo_ros.learning.run_log import RunLog
from ompo_ros.nodes.beliefs import check_belief
from ompo_ros.nodes.learner_parameters import LearnerParameters
from ompo_ros.nodes.warm_start import recall_demonstrations, warm_start
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import check_episode, tensors_to_msgs
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY, run
from ompo_ros.nodes.wire.run_end import end_with_run
from ompo_ros.nodes.wire.transition_intake import TransitionIntake, shown
from ompo_ros.resources import resource_path
from ompo_ros.sim.belief.coordinates import gains_and_biases
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData, Origin, Transitions

SLICE = 4  # updates between two rounds of callbacks: a few dozen milliseconds on one core
BEHIND = 15.0  # s of pending updates before a warning
DRAIN = 0.05  # s of callbacks before training continues
QUIET = 5.0  # s between two warnings of a kind


class Learner(Node):
    """One agent between the collectors' transitions and the policy server's ActorWeights."""

    def __init__(self) -> None:
        super().__init__("learner", **OVERRIDES)
        given = declare(self, LearnerParameters)
        self._identity = Identity(self, given.run_id)
        run_dir, config, self._pacing = Path(given.run_dir), given.learning, given.pacing
        self._publish_period, self._save_period = given.publish_period, given.checkpoint_period
        task = Task(given.task, given.reward)
        contract = task.on(load_robot(given.robot))
        self._episode_steps = contract.episode_steps
        self._bounds = contract.bounds
        self._agent = make_agent(config, contract.observation_size, contract.action_size, given.seed, given.device)
        self._folder = LearnerFolder(run_dir, given.keep_checkpoints, self.get_logger().warning)
        resumed = self._folder.begin(self._agent, given.resume)
        if resumed is None and given.pretrained:
            load_networks(self._agent, resource_path(given.pretrained))
        if resumed is None and given.warm_start:
            warm_start(self, self._agent, contract, given.warm_start)
        if resumed is None and given.demonstrations:
            recall_demonstrations(self, self._agent, task, contract, given.demonstrations)
        self._recovery = Recovery(self._agent)
        self._refused_episodes = self._target_episodes = self._failed_saves = 0
        self._owes_actor = False  # one could not be published yet
        self._paused = False
        self._done = False
        self._metrics: Mapping[str, float] = {}
        self._rate_mark = (time.monotonic(), self._agent.updates)
        self._next_publish = time.monotonic() + self._publish_period
        self._next_save = time.monotonic() + self._save_period
        self._log = RunLog(run_dir / "tensorboard", self.get_logger().error)
        self._actor = self.create_publisher(ActorWeights, "actor", qos.LATCHED)
        self._status = self.create_publisher(LearnerStatus, "status", qos.LATCHED)
        self._intake = TransitionIntake(self, self._take, self._identity)
        on_episode = self._identity.only_ours(self._on_episode)
        self.create_subscription(EpisodeSummary, "target/episodes", on_episode, qos.EPISODES)
        if config.compensate:
            self.create_subscription(ArmBelief, "belief", self._identity.only_ours(self._on_belief), qos.LATCHED)
        self.create_service(Trigger, "~/save_checkpoint", self._on_save)
        self.create_service(SetBool, "~/set_paused", self._on_pause)
        end_with_run(self, self._identity)
        self.create_timer(1.0, self._report, clock=STEADY)
        self._publish_actor()  # a robot without a policy does not move, and nothing would be learned
        self._report()
        if resumed is None:
            for _ in range(2):  # so that a run can resume from the start, even with one damaged file
                self._save_if_possible()
        begun = f"resumed from {resumed}: {self._agent.updates} updates" if resumed else f"new run in {run_dir}"
        self.get_logger().info(f"{config.algorithm} on {self._agent.device}, {config.setting}, {begun}")

    # -- what comes in ------------------------------------------------------------------------------------------

    def _take(self, transitions: Transitions) -> None:
        self._bounds.check(transitions)
        self._agent.observe(transitions)

    def _on_belief(self, msg: ArmBelief) -> None:
        """Cancel what is known of the drives; the arm gets such a policy at once."""
        try:
            check_belief(msg)
        except InvalidData as error:
            self.get_logger().error(f"belief refused, the drives stay compensated as they are: {error}")
            return
        if msg.prediction_error < msg.prior_prediction_error and not self._done:
            self._agent.compensate(*gains_and_biases(np.asarray(msg.means)))
            self._publish_actor()

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self._refused_episodes += 1
            self.get_logger().warning(
                f"refused an episode of {shown(msg.collector_id)}: {error}", throttle_duration_sec=QUIET
            )
            return
        if not msg.deterministic and msg.outcome != EpisodeSummary.DROPPED:
            self._target_episodes += 1
            self._log.add_episode(msg.episode_return, msg.success)

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = str(self._save())
            response.success = True
        except OSError as error:
            response.message = str(error)
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        self._recovery.try_again()
        response.success, response.message = True, "paused" if self._paused else "training"
        self._report()
        return response

    # -- training -----------------------------------------------------------------------------------------------

    @property
    def received(self) -> int:
        """Batches received so far, valid or not."""
        return self._intake.received

    @property
    def _target_steps(self) -> int:
        return self._agent.experience.seen[Origin.TARGET]

    def _updates_due(self) -> int:
        seen = self._agent.experience.seen
        return self._pacing.updates_due(seen[Origin.SOURCE], self._agent.paced_steps, self._agent.updates)

    def train(self) -> bool:
        """Make at most a slice of the updates that are due; False if there are none."""
        due = self._updates_due()
        if self._done or self._paused or due == 0 or not self._agent.ready:
            self._finish_if_done()
            return False
        self._metrics = self._agent.update(min(due, SLICE))
        if self._recovery.due:
            self._keep_sound()
        now = time.monotonic()
        if now >= self._next_publish:
            self._publish_actor()
        if now >= self._next_save:
            self._save_if_possible()
        return True

    def _keep_sound(self) -> None:
        """Restore the last finite state if a network is not finite; pause if that does not help."""
        if self._recovery.keep_sound():
            return
        self.get_logger().error(
            "the networks were not finite: restored their last finite state", throttle_duration_sec=QUIET
        )
        if self._recovery.hopeless and not self._paused:
            self._paused = True
            self.get_logger().error(
                "paused, restoring does not help: lower the learning rates or check the rewards and observations, "
                "then start again, or call ~/set_paused with data: false to try once more"
            )

    def _finish_if_done(self) -> None:
        if not self._done and self._pacing.finished(self._target_steps, self._agent.updates):
            self._done = True
            self._publish_actor()
            self._save_if_possible()
            self._report()

    def _publish_actor(self) -> None:
        """Publish the exploring actor or, at the end of a run, the averaged one."""
        self._keep_sound()
        self._next_publish = time.monotonic() + self._publish_period
        try:
            version = self._folder.next_version()
        except OSError as error:
            self._owes_actor = True  # without its number on the disk, another policy could get the same number
            self.get_logger().error(f"no actor is published: {error}", throttle_duration_sec=QUIET)
            return
        self._owes_actor = False
        actor = ActorWeights(
            version=version,
            updates=self._agent.updates,
            target_steps=self._target_steps,
            obs_dim=self._agent.obs_dim,
            act_dim=self._agent.act_dim,
            architecture=self._agent.config.first_layer,
            tensors=tensors_to_msgs(self._agent.actor_tensors(average=self._done)),
        )
        self._actor.publish(self._identity.sign(actor, "actor"))

    def _save(self) -> Path:
        """Write a checkpoint; a failure is logged and raised."""
        self._keep_sound()
        self._next_save = time.monotonic() + self._save_period
        try:
            path = self._folder.save(self._agent)
        except OSError as error:
            self._failed_saves += 1
            self.get_logger().error(f"no checkpoint is written, the older ones stay: {error}")
            raise
        self._log.reopen()
        return path

    def _save_if_possible(self) -> None:
        """Write a periodic checkpoint; after a failure the next period tries again."""
        with contextlib.suppress(OSError):
            self._save()

    def _report(self) -> None:
        seen, now = self._agent.experience.seen, time.monotonic()
        counts = seen[Origin.SOURCE], self._agent.paced_steps, self._agent.updates
        since, updates_then = self._rate_mark
        rate = (self._agent.updates - updates_then) / max(now - since, 1e-3)
        self._rate_mark = (now, self._agent.updates)
        self._warn_if_behind(rate)
        if self._owes_actor:
            self._publish_actor()
        metrics = {name: float(value) for name, value in self._metrics.items()}
        metrics |= {"recoveries": float(self._recovery.recoveries), "failed_saves": float(self._failed_saves)}
        metrics["updates_due"] = float(self._updates_due())
        self._log.write(metrics, self._agent.updates, self._target_steps)
        self._status.publish(
            LearnerStatus(
                run_id=self._identity.run_id,
                stamp=self.get_clock().now().to_msg(),
                state=self._state(),
                device=str(self._agent.device),
                target_steps=seen[Origin.TARGET],
                source_steps=seen[Origin.SOURCE],
                demonstration_steps=seen[Origin.DEMONSTRATION],
                source_budget=self._pacing.source_budget(seen[Origin.TARGET], self._agent.updates),
                target_episodes=self._target_episodes,
                updates=self._agent.updates,
                updates_per_second=rate,
                update_to_data=self._agent.updates / max(seen[Origin.TARGET], 1),
                behind=self._agent.ready and self._pacing.is_behind(*counts, self._episode_steps),
                policy_version=self._folder.version,
                lost_batches=self._intake.counts.lost,
                refused_messages=self._intake.refused + self._refused_episodes + self._identity.refused,
                metric_names=list(metrics),
                metric_values=array("f", metrics.values()),
            )
        )

    def _warn_if_behind(self, rate: float) -> None:
        behind = self._updates_due()
        if self._state() == LearnerStatus.TRAINING and behind > BEHIND * rate > 0.0:
            self.get_logger().warning(
                f"{behind} updates behind at {rate:.0f}/s: the arm waits for them, or learns from older data; "
                "a lower update_to_data or more cores keep pace",
                throttle_duration_sec=600.0,
            )

    def _state(self) -> int:
        if self._done and not self._owes_actor:
            return int(LearnerStatus.FINISHED)
        if self._paused:
            return int(LearnerStatus.PAUSED)
        return int(LearnerStatus.TRAINING if self._agent.updates else LearnerStatus.WAITING)

    def destroy_node(self) -> None:
        """Write a last checkpoint."""
        if self._agent.experience.global_.size:
            self._save_if_possible()
        self._log.close()
        self._folder.close()
        super().destroy_node()


def take_in(executor: SingleThreadedExecutor, node: Learner, timeout: float) -> bool:
    """Handle what is ready; returns whether a batch was among it."""
    before = node.received
    executor.spin_once(timeout_sec=timeout)
    if node.received > before:
        executor.spin_once(timeout_sec=0.0)  # after a callback, rclpy's next call without a timeout only ends its round
    return node.received > before


def turn(node: Learner, executor: SingleThreadedExecutor) -> None:
    """Train between callbacks, in one thread: no lock, and no message waits longer than a slice."""
    timeout = 0.0 if node.train() else 0.02
    deadline = time.monotonic() + DRAIN
    while take_in(executor, node, timeout) and time.monotonic() < deadline:
        timeout = 0.0


def main() -> None:
    """Learn until stopped."""
    run(Learner, turn)


if __name__ == "__main__":
    main()
