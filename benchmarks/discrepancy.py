"""Which sign of R helps under a dynamics shift: OMPO's variants and the baselines on a small task, several seeds.

A point in the plane is pushed towards a goal. In the source a push acts as commanded; in the target it is weaker,
turned and biased, so that a policy of the source fails there. Ten source episodes are played per target episode.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.transitions import Origin, Transitions

Played = tuple[dict[str, list[NDArray[Any]]], NDArray[np.floating[Any]]]
EPISODE = 30
SOURCES_PER_TARGET = 10
REACHED = 0.1
SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "batch_size": 128,
    "global_capacity": 100_000,
    "local_capacity": 300,
    "critic_lr": 1e-3,
    "actor_lr": 1e-3,
    "temperature_lr": 1e-3,
    "discriminator_lr": 1e-3,
    "discount": 0.95,
    "initial_temperature": 0.1,
    "reward_shift": 1.0,
    "discriminator_steps": 50,
}


class Dynamics(NamedTuple):
    """What becomes of a commanded push."""

    gain: float
    turn: float
    bias: tuple[float, float]

    def __call__(self, action: NDArray[np.float32]) -> NDArray[np.float32]:
        c, s = np.cos(self.turn), np.sin(self.turn)
        pushed = self.gain * action @ np.array([[c, s], [-s, c]]) + self.bias
        result: NDArray[np.float32] = pushed.astype(np.float32)
        return result


SOURCE = Dynamics(1.0, 0.0, (0.0, 0.0))
SHIFTS = {
    "turned": Dynamics(0.7, 1.0, (0.2, 0.0)),
    "weak": Dynamics(0.4, 0.0, (0.25, 0.1)),
}


def play(
    agent: Agent | None, dynamics: Dynamics, episodes: int, rng: np.random.Generator, learn: bool = True
) -> Played:
    """Play episodes side by side; gives their transitions and the final distances. No agent acts at random."""
    position = rng.uniform(-0.5, 0.5, (episodes, 2)).astype(np.float32)
    goal = rng.uniform(-1.0, 1.0, (episodes, 2)).astype(np.float32)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ("obs", "action", "reward", "next_obs")}
    obs = np.concatenate((position, goal - position), 1)
    for _ in range(EPISODE):
        if agent is None:
            action = rng.uniform(-1, 1, (episodes, 2)).astype(np.float32)
        else:
            action = agent.act(obs, deterministic=not learn)
        position = np.clip(position + 0.15 * dynamics(action), -2, 2).astype(np.float32)
        next_obs = np.concatenate((position, goal - position), 1)
        reward = -np.minimum(np.linalg.norm(goal - position, axis=1), 0.99).astype(np.float32)
        for name, values in zip(parts, (obs, action, reward, next_obs), strict=True):
            parts[name].append(values)
        obs = next_obs
    return parts, np.linalg.norm(goal - position, axis=1)


def as_transitions(parts: dict[str, list[NDArray[Any]]], origin: Origin) -> Transitions:
    """Lay the episodes out one after the other."""
    joined = {name: np.ascontiguousarray(np.stack(values, 1)) for name, values in parts.items()}
    episodes = len(joined["reward"])
    n = episodes * EPISODE
    step = np.tile(np.arange(EPISODE, dtype=np.uint32), episodes)
    zeros = np.zeros(n, np.uint32)
    return Transitions(
        origin=origin,
        obs=joined["obs"].reshape(n, 4),
        action=joined["action"].reshape(n, 2),
        reward=joined["reward"].reshape(n),
        next_obs=joined["next_obs"].reshape(n, 4),
        terminated=np.zeros(n, bool),
        truncated=step == EPISODE - 1,
        step=step,
        policy_version=zeros,
        domain_id=zeros + np.uint32(origin),
    )


class Result(NamedTuple):
    """Mean final distance to the goal and share of goals reached, in the target, before and after."""

    distance_before: float
    distance: float
    success: float


def run(settings: dict[str, Any], target: Dynamics, seed: int, episodes: int = 60, updates_per_step: int = 2) -> Result:
    """Adapt from scratch with `episodes` target episodes."""
    rng = np.random.default_rng(seed)
    agent = make_agent(Config.from_dict({**SMALL, **settings}), 4, 2, seed, "cpu")
    before = play(agent, target, 200, np.random.default_rng(10_000), learn=False)[1]
    for episode in range(episodes):
        actor = agent if episode >= 5 else None
        agent.observe(as_transitions(play(actor, SOURCE, SOURCES_PER_TARGET, rng)[0], Origin.SOURCE))
        agent.observe(as_transitions(play(actor, target, 1, rng)[0], Origin.TARGET))
        agent.update(EPISODE * updates_per_step)
    after = play(agent, target, 200, np.random.default_rng(10_000), learn=False)[1]
    return Result(float(before.mean()), float(after.mean()), float((after < REACHED).mean()))


VARIANTS: dict[str, dict[str, Any]] = {
    "sac": {"algorithm": "sac"},
    "algaedice": {"algorithm": "algaedice"},
    "darc": {"algorithm": "darc", "classifier_warmup": 1_000},
    "none": {"discrepancy": "none"},
    "paper 0.001": {"discrepancy": "paper", "discrepancy_weight": 0.001},
    "paper 0.1": {"discrepancy": "paper", "discrepancy_weight": 0.1},
    "bound 0.001": {"discrepancy": "bound", "discrepancy_weight": 0.001},
    "bound 0.1": {"discrepancy": "bound", "discrepancy_weight": 0.1},
    "bound 0.3": {"discrepancy": "bound", "discrepancy_weight": 0.3},
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=60, help="target episodes of 30 steps")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--shifts", nargs="+", default=list(SHIFTS), choices=list(SHIFTS))
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings for all variants")
    args = parser.parse_args()
    torch.set_num_threads(1)
    common = {name: json.loads(value) for name, value in (pair.split("=", 1) for pair in args.set)}
    results: dict[str, dict[str, list[float]]] = {}
    print(f"{args.seeds} seeds, {args.episodes} target episodes; final distance: mean ± deviation (worst), and success")
    for shift in args.shifts:
        for variant in args.variants:
            runs = [
                run({**VARIANTS[variant], **common}, SHIFTS[shift], seed, args.episodes) for seed in range(args.seeds)
            ]
            distances, success = [r.distance for r in runs], statistics.mean(r.success for r in runs)
            spread = statistics.stdev(distances) if len(distances) > 1 else 0.0
            mean = statistics.mean(distances)
            print(
                f"{shift:8}{variant:14}{mean:7.3f} ± {spread:.3f} ({max(distances):.3f}){100 * success:7.1f} %",
                flush=True,
            )
            results[f"{shift} {variant}"] = {"distance": [mean, spread], "success": [success]}
    print(json.dumps(results))


if __name__ == "__main__":
    main()
