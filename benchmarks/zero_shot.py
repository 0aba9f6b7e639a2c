"""How a policy trained in one source does, unchanged, in each target: the gap that adaptation has to close.

    python benchmarks/zero_shot.py [--source nominal] [--steps N] [--seeds N] [--episodes N]

Trains SAC in the batched source, then plays deterministic episodes in every target. An episode counts as a success if
its last observation does. Last line: one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time

import gymnasium
import numpy as np
from numpy.typing import NDArray

import ompo_ros.sim  # noqa: F401 - registers the worlds
from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.tasks import EPISODE_STEPS
from ompo_ros.transitions import Origin, Transitions

ARMS = 16
TARGETS = {
    "MuJoCo, plain": ("Panda", "nominal"),
    "MuJoCo, randomized": ("Panda", "randomized"),
    "MuJoCo, the paper's disturbance": ("Panda", "paper"),
    "MuJoCo, hidden": ("Panda", "hidden"),
    "MuJoCo, drifting": ("Panda", "drifting"),
    "panda-gym, plain": ("PandaGym", "nominal"),
    "panda-gym, the paper's disturbance": ("PandaGym", "paper"),
    "panda-gym, disturbed": ("PandaGym", "disturbed"),
}
Scores = dict[str, list[float]]


def train(task: str, reward: str, source: str, steps: int, seed: int) -> Agent:
    """Learn in the source alone, one update for every four transitions."""
    env = PandaVectorEnv(ARMS, task, reward, source)
    contract = env.contract
    config = Config(
        algorithm="sac",
        normalize_obs=True,
        hidden_size=128,
        critic_lr=1e-3,
        actor_lr=1e-3,
        temperature_lr=1e-3,
        initial_temperature=0.02,
        discount=0.95,
        threads=1,
    )
    agent = make_agent(config, contract.observation_size, contract.action_size, seed, "cpu")
    generator = np.random.default_rng(seed)
    obs, _ = env.reset(seed=1000 * seed)
    for step in range(steps // ARMS):
        if step * ARMS < 2000:
            action = generator.uniform(-1.0, 1.0, (ARMS, contract.action_size)).astype(np.float32)
        else:
            action = agent.act(obs)
        index = env.world.step_index.astype(np.uint32)
        after, rewards, terminated, truncated, info = env.step(action)
        zeros = np.zeros(ARMS, dtype=np.uint32)
        agent.observe(
            Transitions(
                Origin.SOURCE, obs, action, rewards, info["final_obs"], terminated, truncated, index, zeros, zeros
            )
        )
        obs = after
        if step * ARMS >= 2000:
            agent.update(ARMS // 4)
    env.close()
    return agent


def play(
    agent: Agent, env: gymnasium.Env[NDArray[np.float32], NDArray[np.float32]], episodes: int
) -> tuple[float, float]:
    """Success rate and mean final distance to the goal, in metres, of deterministic episodes."""
    world = env.unwrapped.world  # type: ignore[attr-defined]
    successes, distances = [], []
    for episode in range(episodes):
        obs, info = env.reset(seed=0) if episode == 0 else env.reset()
        for _ in range(EPISODE_STEPS):
            obs, _, _, _, info = env.step(agent.act(obs, deterministic=True))
        successes.append(info["is_success"])
        distances.append(float(world.task.distance(obs)))
    return float(np.mean(successes)), float(np.mean(distances))


def main() -> None:
    """Train once a seed, play everywhere, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="reach", choices=("reach", "push"))
    parser.add_argument("--reward", default="dense", choices=("dense", "sparse"))
    parser.add_argument("--source", default="nominal", help="domain to train in")
    parser.add_argument("--steps", type=int, default=32_000, help="control steps in the source")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=100, help="in each target")
    options = parser.parse_args()
    success: Scores = {name: [] for name in TARGETS}
    distance: Scores = {name: [] for name in TARGETS}
    for seed in range(options.seeds):
        begin = time.perf_counter()
        agent = train(options.task, options.reward, options.source, options.steps, seed)
        print(
            f"seed {seed}: {options.steps} steps in {options.source} took {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        for name, (simulator, domain) in TARGETS.items():
            env = gymnasium.make(f"ompo/{simulator}{options.task.title()}{options.reward.title()}-v0", domain=domain)
            rate, far = play(agent, env, options.episodes)
            success[name].append(rate)
            distance[name].append(far)
            env.close()
    print(f"\n{'target':38s} {'success':>8s}  {'each seed':24s} {'final distance':>14s}")
    for name in TARGETS:
        each = " ".join(f"{rate:.2f}" for rate in success[name])
        print(f"{name:38s} {np.mean(success[name]):8.2f}  {each:24s} {100 * np.mean(distance[name]):11.1f} cm")
    print(json.dumps({"source": options.source, "success": success, "distance": distance}))


if __name__ == "__main__":
    main()
