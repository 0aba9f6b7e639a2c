"""Whether a run that starts from another one's recording needs fewer target steps, by rehearsals without ROS.

Usage: tools/with_ros python benchmarks/warm_start.py [--seeds 0 1 2 3 4] [--steps 250] [--every 50] [--episodes 50]
For each seed a first run is recorded; a second learner, of another seed, then meets the same stand-in with the
recording. Shown are the target steps after which an evaluation first reaches 95 %: 0 if it does before the first one;
beyond the run's end, one more period. An evaluation ends with the failure that decides it, the second run with its
first success.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.rehearse import AgentPolicy, Keep, Rig, make_rehearsal, rehearse
from ompo_ros.experiments.settings import node_settings
from ompo_ros.learning import Agent, Config
from ompo_ros.learning.pacing import Pacing
from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.recording.warm_start import recorded_transitions
from ompo_ros.resources import networks_name
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Transitions

ENOUGH = 0.95
OTHER = 100  # between the seeds of a first and a second run
TASK, ROBOT = Task("reach", "dense"), load_robot("panda")


@dataclass(frozen=True)
class Protocol:
    """What all runs share."""

    simulator: str
    domain: str
    steps: int
    every: int
    episodes: int

    def steps_to_success(
        self, arm_seed: int, seed: int, recorded: Iterable[Transitions] = (), keep: Keep | None = None
    ) -> int:
        """Target steps to the first evaluation that is good enough; where somebody keeps the run, it goes on."""
        settings = node_settings("learner")
        config = Config.from_dict(settings["learning"])
        pacing = Pacing(settings["warmup"], settings["source_ratio"], settings["update_to_data"], self.steps)
        _, agent, sources = make_rehearsal(
            config, networks_name(TASK.name), self.simulator, self.domain, belief=True, seed=seed
        )
        arm = make_stand_in(self.simulator, self.domain, TASK, ROBOT, seed=arm_seed, command_timeout=0.5)
        rig = Rig(arm, Collector(ROBOT, TASK, seed=seed))
        for transitions in recorded:
            agent.recall(transitions)
            sources.recall(transitions)
        for _ in range(2):
            sources.fit(agent)
        first = 0 if self._is_enough(rig, agent) else self.steps + self.every
        if keep is None and first == 0:
            return first
        for steps in rehearse(rig, agent, sources, pacing, keep or (lambda _: None)):
            if steps % self.every == 0 and steps < first and self._is_enough(rig, agent):
                first = steps
                if keep is None:
                    break
        return first

    def _is_enough(self, rig: Rig, agent: Agent) -> bool:
        """Evaluate until the verdict is certain."""
        allowed = math.floor(self.episodes * (1.0 - ENOUGH) + 1e-9)
        evaluation, playing = rig.collector.player.evaluate(AgentPolicy(agent), self.episodes), rig.episodes()
        failures = 0
        while not evaluation.done and failures <= allowed:
            next(playing)
            failures = sum(not episode.success for episode in evaluation.played)
        rig.collector.player.stop_evaluation()
        return failures <= allowed


def main() -> None:
    """Rehearse and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--simulator", default="panda_gym")
    parser.add_argument("--domain", default="gaps/expressible_2")
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--episodes", type=int, default=50)
    given = parser.parse_args()
    protocol = Protocol(given.simulator, given.domain, given.steps, given.every, given.episodes)
    rows = [compare(protocol, seed) for seed in given.seeds]
    medians = {name: statistics.median(row[name] for row in rows) for name in ("first", "second")}
    print("median " + " ".join(f"{medians[name]:6.0f}" for name in medians))
    print(json.dumps({"seeds": given.seeds, "rows": rows, "median": medians}))


def compare(protocol: Protocol, seed: int) -> dict[str, int]:
    """Steps of a first run and of a second one that has its recording."""
    contract = TASK.on(ROBOT)
    with tempfile.TemporaryDirectory() as folder:
        recorder = BatchRecorder(Path(folder), contract)
        row = {"first": protocol.steps_to_success(seed, seed, keep=recorder.write)}
        recorder.close()
        recorded = recorded_transitions([Path(folder)], contract, print)
        row["second"] = protocol.steps_to_success(seed, seed + OTHER, recorded)
    print(f"seed {seed} " + " ".join(f"{name} {steps:4}" for name, steps in row.items()), flush=True)
    return row


if __name__ == "__main__":
    main()
