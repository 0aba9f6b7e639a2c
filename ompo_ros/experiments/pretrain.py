"""Trains the initial networks of adaptation in the randomized source, and measures them.

Usage: python -m ompo_ros.experiments.pretrain [--task reach|push] [--updates N] [--seed N] [--out FILE]
       python -m ompo_ros.experiments.pretrain [--task reach|push] --measure FILE

Reach is learned by SAC. Push is taught by a script, and continues where the same command was interrupted.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np

from ompo_ros.experiments.settings import node_settings
from ompo_ros.experiments.teaching import Taught, half_taught, without_normalizer
from ompo_ros.files import write_whole
from ompo_ros.learning import Agent, Config, checkpoint, make_agent
from ompo_ros.learning.pretrained import load_networks, save_networks
from ompo_ros.resources import networks_name
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import Robot, load_robot
from ompo_ros.task.tasks import FAMILIES, TASKS, Float32Array, Task
from ompo_ros.task.teacher import push_actions

ARMS = 16
WARMUP = 300  # random steps of every arm
STEPS, UPDATES = 5, 10  # of every arm, and of the learner, in turn
TOTAL_UPDATES = {"reach": 15_000, "push": 120_000}
PUSH_ARMS = 32
PUSH_UPDATES = 20  # to STEPS of every arm
LESSONS = 0.8  # share of the updates that teach the actor; the others teach the critics
CHECKPOINT_PERIOD = 2_000  # updates
EPISODES = 100  # of a measurement
ASKED = "asked.json"  # beside the checkpoints: what the run that they are of was asked for
PRETRAINING: dict[str, float | str] = {
    "algorithm": "sac",
    "setting": "stationary",
    "critic_lr": 1e-3,
    "actor_lr": 1e-3,
    "temperature_lr": 1e-3,
    "actor_average_tau": 1.0,
    "initial_temperature": 0.03,
}
TEACHING = {
    "normalize_obs": True,  # a push needs centimetres, a tenth of what positions vary by
    "initial_temperature": 0.003,  # stays: entropy must not outweigh the cube, since taught actions are often extreme
}


class OtherRun(ValueError):
    """Checkpoints of a run that was asked for something else; the message says what to do."""


def learner_config(**changed: float) -> Config:
    """Settings to pretrain with; all others are the learner node's, so that it can continue with these networks."""
    return Config.from_dict({**node_settings("learner")["learning"], **PRETRAINING, **changed})


def train_reach(updates: int, seed: int) -> Agent:
    """Train SAC in the randomized source: one kind of dynamics leaves a discriminator nothing to separate."""
    env = PandaVectorEnv(ARMS, "reach", "dense", "randomized")
    collection, rng = Collection(env, seed), np.random.default_rng(seed)
    agent = make_agent(learner_config(), env.contract.observation_size, env.contract.action_size, seed)

    def act_randomly(obs: Float32Array) -> Float32Array:
        return rng.uniform(-1.0, 1.0, (len(obs), agent.act_dim)).astype(np.float32)

    agent.observe(collection.run(act_randomly, WARMUP, policy_version=0)[0])
    while agent.updates < updates:
        agent.observe(collection.run(agent.act, STEPS, policy_version=0)[0])
        agent.update(UPDATES)
    return agent


def train_push(updates: int, seed: int, folder: Path, period: int = CHECKPOINT_PERIOD) -> Agent:
    """Teach actor, then critics, in the randomized source within the arm's limits; checkpoints go to `folder`."""
    _keep_asked(folder, {"updates": updates, "seed": seed})
    env = PandaVectorEnv(PUSH_ARMS, "push", "dense", "randomized", threads=1, limits=load_robot("panda"))
    sizes = env.contract.observation_size, env.contract.action_size
    config = learner_config(**TEACHING)
    agent = Taught(config, *sizes, seed, push_actions, lessons=round(LESSONS * updates))
    checkpoint.restore_newest(agent, folder, warn=warnings.warn)
    collection = Collection(env, seed + agent.updates)  # a continued run plays new episodes
    if agent.updates == 0:
        agent.observe(collection.run(push_actions, env.world.task.episode_steps, policy_version=0)[0])
    while agent.updates < updates:
        agent.slow_down(updates)
        agent.observe(collection.run(half_taught(agent, push_actions), STEPS, policy_version=0)[0])
        agent.update(PUSH_UPDATES)
        if agent.updates % period == 0:
            checkpoint.save(agent, folder, keep=1)
    return without_normalizer(agent, learner_config())


def _keep_asked(folder: Path, asked: dict[str, int]) -> None:
    """Refuse checkpoints of another request: its number of updates decides which of them are lessons."""
    if checkpoint.list_checkpoints(folder) and (kept := _kept(folder)) != asked:
        was = " ".join(f"--{name} {value}" for name, value in kept.items()) or "options that are not known"
        raise OtherRun(
            f"{folder} holds checkpoints of a run with {was}: give the same to continue it, choose another --out, "
            "or remove the folder to begin anew"
        )
    write_whole(folder / ASKED, json.dumps(asked).encode())


def _kept(folder: Path) -> dict[str, int]:
    try:
        kept = json.loads((folder / ASKED).read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def trained(task: str, file: Path) -> Agent:
    """The networks of a file."""
    contract = Task(task, "dense").contract
    agent = make_agent(learner_config(), contract.observation_size, contract.action_size)
    load_networks(agent, file)
    return agent


def success_rate(agent: Agent, task: str, domain: str, robot: Robot) -> float:
    """Share of deterministic episodes that end at their goal, with commands within the robot's limits."""
    env = PandaVectorEnv(EPISODES, task, "dense", domain, limits=robot)
    obs, info = env.reset(seed=10_000)
    for _ in range(env.contract.episode_steps):
        obs, _, _, _, info = env.step(agent.act(obs, deterministic=True))
    return float(info["is_success"].mean())


def panda_gym_success_rate(agent: Agent, task: str) -> float:
    """The same on panda-gym's arm, table and cube as they come."""
    from ompo_ros.sim.panda_gym import PandaGymEnv  # needs PyBullet

    env, successes = PandaGymEnv(task, "dense", "nominal"), 0
    for episode in range(EPISODES):
        obs, info = env.reset(seed=10_000 + episode)
        for _ in range(env.contract.episode_steps):
            obs, _, _, _, info = env.step(agent.act(obs, deterministic=True))
        successes += info["is_success"]
    env.close()
    return successes / EPISODES


def measure(agent: Agent, task: str) -> None:
    """Print the success on each arm, and in panda-gym where PyBullet is installed."""
    for family in FAMILIES:
        for domain in ("nominal", "randomized", "creeping", "sagging", "hidden"):
            rate = success_rate(agent, task, domain, load_robot(family))
            sys.stdout.write(f"{family:9} {domain:11} {rate:.0%} of {EPISODES} episodes\n")
    if importlib.util.find_spec("pybullet") is not None:
        rate = panda_gym_success_rate(agent, task)
        sys.stdout.write(f"panda_gym {'nominal':11} {rate:.0%} of {EPISODES} episodes\n")


def _train(task: str, updates: int, seed: int, checkpoints: Path) -> Agent:
    return train_push(updates, seed, checkpoints) if task == "push" else train_reach(updates, seed)


def main() -> None:
    """Train and save, or load; then measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, default="reach")
    parser.add_argument("--updates", type=int, help=f"default: {TOTAL_UPDATES}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="default: models/policies/panda_TASK.safetensors")
    parser.add_argument("--measure", type=Path, help="networks to measure instead of training any")
    given = parser.parse_args()
    if given.measure is not None:
        agent = trained(given.task, given.measure)
    else:
        out = given.out or Path(networks_name(given.task))
        updates = given.updates or TOTAL_UPDATES[given.task]
        out.parent.mkdir(parents=True, exist_ok=True)
        checkpoints = out.with_suffix(".checkpoints")
        try:
            agent = _train(given.task, updates, given.seed, checkpoints)
        except OtherRun as error:
            sys.exit(str(error))
        save_networks(agent, out)
        shutil.rmtree(checkpoints, ignore_errors=True)
    measure(agent, given.task)


if __name__ == "__main__":
    main()
