"""Trains the initial networks of adaptation in the randomized source, and measures them.

Usage: python -m ompo_ros.experiments.pretrain [--updates N] [--seed N] [--out FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.learning.pretrained import save_networks
from ompo_ros.resources import resource_path
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.tasks import EPISODE_STEPS, Float32Array

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


def success_rate(agent: Agent, domain: str, episodes: int = 100) -> float:
    """Share of deterministic episodes that end at their goal."""
    env = PandaVectorEnv(episodes, "reach", "dense", domain)
    obs, info = env.reset(seed=10_000)
    for _ in range(EPISODE_STEPS):
        obs, _, _, _, info = env.step(agent.act(obs, deterministic=True))
    return float(info["is_success"].mean())


def main() -> None:
    """Train, save, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("models/policies/panda_reach.safetensors"))
    arguments = parser.parse_args()
    agent = train(arguments.updates, arguments.seed)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    save_networks(agent, arguments.out)
    for domain in ("nominal", "randomized", "creeping", "hidden"):
        sys.stdout.write(f"{domain:12} {success_rate(agent, domain):.0%} of 100 episodes\n")


if __name__ == "__main__":
    main()
