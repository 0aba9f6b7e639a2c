"""An adaptation run without ROS, faster than real time, with the same collector, safety filter and settings.

Usage: python -m ompo_ros.experiments.rehearse [--algorithm sac] [--belief] [--seed N] [--set name=value ...]
Prints a line per evaluation, then one JSON object. One process, one thread: a seed's run can be repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import yaml

from ompo_ros.control.collector import Collector, CollectorPhase
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.control.safety import ArmState
from ompo_ros.experiments.pretrain import ARMS
from ompo_ros.experiments.settings import node_settings
from ompo_ros.learning import ALGORITHMS, Agent, Config, make_agent
from ompo_ros.learning.pacing import Pacing
from ompo_ros.learning.pretrained import load_networks
from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.recording.warm_start import recorded_demonstrations, recorded_transitions
from ompo_ros.resources import networks_name, resource_path
from ompo_ros.sim.belief import Belief, coordinates
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.stand_in import SIMULATORS, StandIn, make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import TASKS, Float32Array, Task
from ompo_ros.transitions import Origin, Transitions

SOURCE_STEPS = 16  # of every arm at a time
SOURCE_DOMAIN = "randomized"
Keep = Callable[[Transitions], None]
LONGEST = 120.0  # s on the stand-in's clock from one episode's end to the next


class ArmHeld(RuntimeError):
    """The collector waits for a person, which a rehearsal does not have; the message says why."""


@dataclass
class AgentPolicy:
    """The learner's actor used as a policy."""

    agent: Agent
    version: int = 1
    sha256: str = ""

    @property
    def rest_action(self) -> Float32Array:
        return self.agent.rest_action

    def act(self, obs: Float32Array) -> Float32Array:
        return self.agent.act(obs, deterministic=True)

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        return self.agent.act(obs)


class Rig:
    """A stand-in robot and the collector that moves it, tick by tick."""

    def __init__(self, arm: StandIn, collector: Collector) -> None:
        self._arm, self.collector = arm, collector
        self.last: PlayedEpisode | None = None
        collector.enabled = True

    def episodes(self) -> Iterator[PlayedEpisode]:
        """Play episodes and yield each when it ends; raises ArmHeld if no other will follow."""
        began = self._arm.time
        while True:
            measured, now = self._arm.measured, self._arm.time
            tick = self.collector.tick(ArmState(measured.position, measured.velocity, now), measured.cube, now)
            if self.collector.phase is CollectorPhase.HELD or now - began > LONGEST:
                raise ArmHeld(f"the arm is held: {self.collector.problem}")
            if tick.command is not None:
                self._arm.command(tick.command.position)
            self._arm.advance(self.collector.motion.robot.period)
            if tick.finished is not None:
                self.last = tick.finished
                yield tick.finished
                began = self._arm.time

    def evaluate(self, agent: Agent, episodes: int) -> tuple[float, float]:
        """Success rate and mean return of deterministic episodes."""
        evaluation, playing = self.collector.player.evaluate(AgentPolicy(agent), episodes), self.episodes()
        while not evaluation.done:
            next(playing)
        self.collector.player.stop_evaluation()
        played = evaluation.played
        return float(np.mean([e.success for e in played])), float(np.mean([e.episode_return for e in played]))


class Sources:
    """Simulated arms that play the learner's policy, drawn from the prior or from the belief about the target."""

    def __init__(self, env: PandaVectorEnv, seed: int, belief: Belief | None = None) -> None:
        self._arms, self._seed, self.belief = env.num_envs, seed, belief
        self._collection = Collection(env, seed)

    def recall(self, recorded: Transitions) -> bool:
        """Let a belief know of a recorded transition's target; False if it cannot use it."""
        return self.belief is None or self.belief.recall(recorded)

    def learn_of(self, target: Transitions, agent: Agent) -> None:
        """Fit the belief to the target's transitions; all arms restart with it, and the agent compensates."""
        if self.belief is not None:
            self.belief.observe(target)
            self.fit(agent)

    def fit(self, agent: Agent) -> None:
        """Fit the belief to what it knows so far, if that is enough."""
        if self.belief is not None and self.belief.fit():
            if self.belief.trusted:
                agent.compensate(*coordinates.gains_and_biases(self.belief.mean))
            self._collection.restart(self.belief.domain, self._seed + self.belief.fits * self._arms)

    def play(self, agent: Agent, budget: int, keep: Keep) -> None:
        """Add source transitions to the agent up to its budget."""
        while agent.experience.seen[Origin.SOURCE] < budget:
            transitions = self._collection.run(agent.act, SOURCE_STEPS, policy_version=1)[0]
            agent.observe(transitions)
            keep(transitions)


def rehearse(rig: Rig, agent: Agent, sources: Sources, pacing: Pacing, keep: Keep = lambda _: None) -> Iterator[int]:
    """Explore and learn in turns; yields the target's steps after every episode. `keep` gets all transitions."""
    rig.collector.player.policy = AgentPolicy(agent)
    seen = agent.experience.seen
    playing = rig.episodes()
    for _ in range(2):  # the first fit is a quick one
        sources.fit(agent)  # to what was recorded before
    sources.play(agent, pacing.source_budget(0, 0), keep)
    if owed := pacing.updates_due(seen[Origin.SOURCE], agent.paced_steps, agent.updates):
        agent.update(owed)  # for what was recorded before
    while seen[Origin.TARGET] < pacing.target_steps:
        episode = next(playing)
        if episode.transitions is None:
            continue
        agent.observe(episode.transitions)
        keep(episode.transitions)
        sources.learn_of(episode.transitions, agent)
        if episode.origin is Origin.DEMONSTRATION:
            continue
        due = pacing.updates_due(seen[Origin.SOURCE], agent.paced_steps, agent.updates)
        sources.play(agent, pacing.source_budget(seen[Origin.TARGET], agent.updates + due), keep)
        if due and agent.ready:
            agent.update(due)
        yield seen[Origin.TARGET]


def make_rehearsal(
    config: Config,
    pretrained: str,
    simulator: str,
    domain: str,
    *,
    belief: bool,
    seed: int,
    task_name: str = "reach",
    scripted: int = 0,
) -> tuple[Rig, Agent, Sources]:
    """Build stand-in, learner and sources of one run, all from one seed."""
    torch.set_num_threads(1)
    task, robot = Task(task_name, "dense"), load_robot("panda")
    agent = make_agent(config, task.contract.observation_size, task.contract.action_size, seed, "cpu")
    if pretrained != "none":
        load_networks(agent, resource_path(pretrained))
    env = PandaVectorEnv(ARMS, task.name, task.reward, SOURCE_DOMAIN, threads=1, limits=robot)
    sources = Sources(env, seed, Belief(task, SOURCE_DOMAIN, seed) if belief else None)
    arm = make_stand_in(simulator, domain, task, robot, seed=seed, command_timeout=0.5)
    return Rig(arm, Collector(robot, task, seed=seed, scripted=scripted, cube_rest_time=0.0)), agent, sources


def main() -> None:
    """Rehearse once and print the results."""
    arguments = _parse()
    settings = node_settings("learner", arguments.task)
    pacing = Pacing(arguments.warmup, arguments.source_ratio, arguments.update_to_data, arguments.steps)
    chosen = {name: yaml.safe_load(value) for name, value in (pair.split("=", 1) for pair in arguments.set)}
    config = Config.from_dict({**settings["learning"], "algorithm": arguments.algorithm, **chosen})
    rig, agent, sources = make_rehearsal(
        config,
        arguments.pretrained or networks_name(arguments.task),
        arguments.simulator,
        arguments.domain,
        belief=arguments.belief,
        seed=arguments.seed,
        task_name=arguments.task,
        scripted=arguments.scripted_episodes,
    )
    task = Task(arguments.task, "dense")
    _recall(arguments, task, agent, sources)
    recording = BatchRecorder(arguments.record, task.contract) if arguments.record else None
    curve = {}

    def tell(steps: int) -> None:
        curve[steps], value = rig.evaluate(agent, arguments.episodes)
        sys.stdout.write(
            f"{steps:6} steps  {agent.updates:6} updates  success {curve[steps]:4.0%}  return {value:6.2f}\n"
        )
        sys.stdout.flush()

    held = ""
    try:
        tell(0)
        for steps in rehearse(rig, agent, sources, pacing, recording.write if recording else lambda _: None):
            if steps % arguments.every == 0:
                tell(steps)
    except ArmHeld as reason:
        held = str(reason)
        sys.stderr.write(f"{held}\n")
    if recording is not None:
        recording.close()
    result = {"seed": arguments.seed, "algorithm": arguments.algorithm, "success": curve}
    sys.stdout.write(json.dumps({**result, "held": held} if held else result) + "\n")


def _recall(arguments: argparse.Namespace, task: Task, agent: Agent, sources: Sources) -> None:
    """Begin with what was recorded before; demonstrations may be of another arm, so the belief leaves them out."""
    left_out = 0
    for transitions in recorded_transitions(arguments.warm_start, task.contract, sys.stderr.write):
        agent.recall(transitions)
        left_out += not sources.recall(transitions)
    if left_out:
        sys.stderr.write(f"the belief leaves out {left_out} batches without possible commands\n")
    for transitions in recorded_demonstrations(arguments.demonstrations, task, task.contract, sys.stderr.write):
        agent.recall(transitions)


def _parse() -> argparse.Namespace:
    settings = node_settings("learner")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="ompo")
    parser.add_argument("--belief", action="store_true", help="identify the target and draw the sources from it")
    parser.add_argument("--task", choices=TASKS, default="reach")
    parser.add_argument("--pretrained", help="networks, or none; by default the shipped ones of the task")
    parser.add_argument("--simulator", choices=SIMULATORS, default="panda_gym")
    parser.add_argument("--domain", default="creeping")
    parser.add_argument("--steps", type=int, default=2500, help="on the target")
    parser.add_argument("--every", type=int, default=500, help="steps between two evaluations")
    parser.add_argument("--episodes", type=int, default=50, help="of an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update-to-data", type=float, default=settings["update_to_data"])
    parser.add_argument("--source-ratio", type=float, default=settings["source_ratio"])
    parser.add_argument("--warmup", type=int, default=settings["warmup"])
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep all transitions, as the recorder does")
    parser.add_argument(
        "--warm-start", type=Path, nargs="*", default=[], metavar="PATH", help="recordings to learn from"
    )
    parser.add_argument(
        "--demonstrations", type=Path, nargs="*", default=[], metavar="PATH", help="recordings of successful episodes"
    )
    parser.add_argument("--scripted-episodes", type=int, default=0, help="that the task's script demonstrates first")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="learning settings")
    return parser.parse_args()


if __name__ == "__main__":
    main()
