"""Learn gymnasium's Pendulum with OMPO, without ROS.

    pip install .[learning] gymnasium
    python examples/pendulum.py

Takes 20 s on one core. A return above -300 means that the pendulum swings up. The last policy need not be the best
one: keep a good one by `checkpoint.save` (docs/algorithm.md).
Agents act in [-1, 1] and learn from Transitions; StepLearner scales the actions and makes the Transitions.
"""

import argparse

import gymnasium
import numpy as np

from ompo_ros.learning import Config, StepLearner, make_agent

# One environment and no target, hence "stationary". A small task learns fastest with small networks, high rates and an
# actor step with every critic step.
CONFIG = Config(
    setting="stationary", hidden_size=64, actor_lr=1e-3, critic_lr=1e-3, temperature_lr=1e-3, actor_period=1
)


def evaluate(learner: StepLearner, episodes: int = 20) -> float:
    """Mean return of the deterministic policy."""
    env, returns = gymnasium.make("Pendulum-v1"), np.zeros(episodes)
    for episode in range(episodes):
        obs, _ = env.reset(seed=1_000 + episode)
        done = False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(learner.best_action(obs))
            returns[episode] += float(reward)
            done = terminated or truncated
    return float(returns.mean())


def train(steps: int, seed: int = 0) -> StepLearner:
    """Take `steps` steps, the first 1,000 at random, with one update for each later one."""
    env = gymnasium.make("Pendulum-v1")
    agent = make_agent(CONFIG, obs_dim=3, act_dim=1, seed=seed)
    learner = StepLearner(agent, env.action_space.low, env.action_space.high)
    obs, _ = env.reset(seed=seed)
    for step in range(1, steps + 1):
        obs, reward, terminated, truncated, _ = env.step(learner.act(obs))
        learner.observe(obs, float(reward), terminated, truncated)
        if terminated or truncated:
            obs, _ = env.reset()
        if step % 1_000 == 0:
            print(f"{step:6} steps  {agent.updates:6} updates  return {evaluate(learner):7.1f}", flush=True)
    return learner


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5_000)
    train(parser.parse_args().steps)
