"""Trains the initial networks of adaptation in the randomized source, and measures them.

Usage: python -m ompo_ros.experiments.pretrain [--updates N] [--seed N] [--out FILE | --measure FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.learning.pretrained import load_networks, save_networks
from ompo_ros.resources import resource_path
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import Robot, load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, FAMILIES, Float32Array, Task

ARMS = 16
WARMUP = 300  # random steps of every arm
STEPS, UPDATES = 5, 10  # of every arm, and of the learner, in turn
PRETRAINING: dict[str, float | str] = {
    "algorithm": "sac",
    "setting": "stationary",
    "critic_lr": 1e-3,
    "actor_lr": 1e-3,
    "temperature_lr": 1e-3,
    "actor_average_tau": 1.0,
    "initial_temperature": 0.03,
}


def node_settings(node: str) -> dict[str, Any]:
    """The parameters of a node in an adaptation run."""
    parameters = yaml.safe_load(resource_path("config/adapt.yaml").read_text())
    settings: dict[str, Any] = parameters[f"/**/{node}"]["ros__parameters"]
    return settings


def train(updates: int, seed: int) -> Agent:
    """Train SAC in the randomized source: one kind of dynamics leaves a discriminator nothing to separate."""
    env = PandaVectorEnv(ARMS, "reach", "dense", "randomized")
    collection, rng = Collection(env, seed), np.random.default_rng(seed)
    # All other settings are the learner node's, so that it can continue with these networks.
    config = Config.from_dict({**node_settings("learner")["learning"], **PRETRAINING})
    agent = make_agent(config, env.contract.observation_size, env.contract.action_size, seed)

    def act_randomly(obs: Float32Array) -> Float32Array:
        return rng.uniform(-1.0, 1.0, (len(obs), agent.act_dim)).astype(np.float32)

    agent.observe(collection.run(act_randomly, WARMUP, policy_version=0)[0])
    while agent.updates < updates:
        agent.observe(collection.run(agent.act, STEPS, policy_version=0)[0])
        agent.update(UPDATES)
    return agent


def trained(file: Path) -> Agent:
    """The networks of a file."""
    config = Config.from_dict({**node_settings("learner")["learning"], **PRETRAINING})
    contract = Task("reach", "dense").contract
    agent = make_agent(config, contract.observation_size, contract.action_size)
    load_networks(agent, file)
    return agent


def success_rate(agent: Agent, domain: str, robot: Robot, episodes: int = 100) -> float:
    """Share of deterministic episodes that end at their goal, with commands within the robot's limits."""
    env = PandaVectorEnv(episodes, "reach", "dense", domain, limits=robot)
    obs, info = env.reset(seed=10_000)
    for _ in range(EPISODE_STEPS):
        obs, _, _, _, info = env.step(agent.act(obs, deterministic=True))
    return float(info["is_success"].mean())


def main() -> None:
    """Train and save, or load; then measure on each arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("models/policies/panda_reach.safetensors"))
    parser.add_argument("--measure", type=Path, help="networks to measure instead of training any")
    arguments = parser.parse_args()
    if arguments.measure is not None:
        agent = trained(arguments.measure)
    else:
        agent = train(arguments.updates, arguments.seed)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        save_networks(agent, arguments.out)
    for family in FAMILIES:
        for domain in ("nominal", "randomized", "creeping", "sagging", "hidden"):
            rate = success_rate(agent, domain, load_robot(family))
            sys.stdout.write(f"{family:6} {domain:11} {rate:.0%} of 100 episodes\n")


if __name__ == "__main__":
    main()
