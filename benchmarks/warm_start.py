"""Whether a run that starts from another one's recording needs fewer target steps, by rehearsals without ROS.

Usage: tools/with_ros python benchmarks/warm_start.py [--seeds 0 1 2 3 4] [--steps 500] [--every 50] [--episodes 50]
For each seed a first run is recorded; a second learner, of another seed, then meets the same stand-in twice: without
and with the recording. Shown are the target steps after which an evaluation first reaches 95 %; beyond the run's
end, one more period.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.pretrain import node_settings
from ompo_ros.experiments.rehearse import Keep, Rig, make_rehearsal, rehearse
from ompo_ros.learning import Config
from ompo_ros.learning.pacing import Pacing
from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.recording.warm_start import recorded_transitions
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Transitions

PRETRAINED = "models/policies/panda_reach.safetensors"
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

    def run(self, arm_seed: int, seed: int, recorded: Iterable[Transitions] = (), keep: Keep = lambda _: None) -> int:
        """Target steps to the first evaluation that is good enough."""
        settings = node_settings("learner")
        config = Config.from_dict(settings["learning"])
        pacing = Pacing(settings["warmup"], settings["source_ratio"], settings["update_to_data"], self.steps)
        _, agent, sources = make_rehearsal(config, PRETRAINED, self.simulator, self.domain, belief=True, seed=seed)
        arm = make_stand_in(self.simulator, self.domain, TASK, ROBOT, seed=arm_seed, command_timeout=0.5)
        rig = Rig(arm, Collector(ROBOT, TASK, seed=seed))
        for transitions in recorded:
            agent.recall(transitions)
        first = self.steps + self.every
        for steps in rehearse(rig, agent, sources, pacing, keep):
            if steps % self.every == 0 and steps < first and rig.evaluate(agent, self.episodes)[0] >= ENOUGH:
                first = steps
        return first


def main() -> None:
    """Rehearse and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--simulator", default="panda_gym")
    parser.add_argument("--domain", default="creeping")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--episodes", type=int, default=50)
    given = parser.parse_args()
    protocol = Protocol(given.simulator, given.domain, given.steps, given.every, given.episodes)
    rows = [compare(protocol, seed) for seed in given.seeds]
    medians = {name: statistics.median(row[name] for row in rows) for name in ("first", "cold", "warm")}
    print("median " + " ".join(f"{medians[name]:6.0f}" for name in medians))
    print(json.dumps({"seeds": given.seeds, "rows": rows, "median": medians}))


def compare(protocol: Protocol, seed: int) -> dict[str, int]:
    """One first run and both second ones."""
    contract = TASK.on(ROBOT)
    with tempfile.TemporaryDirectory() as folder:
        recorder = BatchRecorder(Path(folder), contract)
        row = {"first": protocol.run(seed, seed, keep=recorder.write)}
        recorder.close()
        row["cold"] = protocol.run(seed, seed + OTHER)
        row["warm"] = protocol.run(seed, seed + OTHER, recorded_transitions([Path(folder)], contract, print))
    print(f"seed {seed} " + " ".join(f"{name} {steps:4}" for name, steps in row.items()), flush=True)
    return row


if __name__ == "__main__":
    main()
