"""How fast OMPO learns: beside the bare matrix products of its update and, if given, the authors' program.

All contestants run in one process in short alternating turns, so that other load on the machine affects all of them
equally; figures are medians over the turns. With one thread the clock is the process's own CPU time, which other
processes cannot stretch. An update is the critics' step, every second time the actor's, and its share of a round: the
discriminator's mini-batches and, in ours, one rating of the full D_G per 1,000 target steps at 30 updates a step.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from ompo_ros.learning import Config, make_agent
from ompo_ros.learning.config import AUTHORS
from ompo_ros.learning.ompo import OMPO
from ompo_ros.transitions import Origin, Transitions

OBS, ACT = 20, 7
CAPACITY = 1_000_000
UPDATES_PER_ROUND = 1_000 * 30
RATED = 8_192
Turn = Callable[[], None]


def transitions(origin: Origin, n: int, rng: np.random.Generator) -> Transitions:
    """Make noise in the shape of experience: speed does not depend on what is learned."""
    normal = rng.standard_normal((n, 2 * OBS + ACT + 1), dtype=np.float32)
    obs, action, next_obs = (np.ascontiguousarray(a) for a in np.split(normal[:, :-1], (OBS, OBS + ACT), axis=1))
    zeros = np.zeros(n, np.uint32)
    return Transitions(
        origin=origin,
        obs=obs,
        action=np.tanh(action),
        reward=np.abs(normal[:, -1]),
        next_obs=next_obs,
        terminated=zeros.astype(bool),
        truncated=zeros.astype(bool),
        step=np.arange(n, dtype=np.uint32) % 50,
        policy_version=zeros,
        domain_id=zeros,
    )


def our_agent(settings: dict[str, Any]) -> OMPO:
    """Fill D_G to the brim and train the discriminator once, so that R takes part."""
    agent = make_agent(Config.from_dict(settings), OBS, ACT, seed=0, device="cpu")
    if not isinstance(agent, OMPO):
        raise TypeError("the benchmark measures ompo")
    rng = np.random.default_rng(0)
    for _ in range(20):
        agent.observe(transitions(Origin.SOURCE, CAPACITY // 20, rng))
    agent.observe(transitions(Origin.TARGET, agent.config.local_capacity, rng))
    agent.update(2)
    while agent.rating is not None and (agent.experience.round_waits or agent.experience.unrated):
        agent.rating.advance(agent.normalizer, agent.learning_rng)
    return agent


def our_turns(agent: OMPO, updates: int) -> tuple[Turn, Turn, Turn, Turn]:
    """Give updates, discriminator mini-batches, ratings and samplings, each as a turn."""
    rated = agent.rating
    if rated is None:
        raise TypeError("the benchmark measures ompo with R")
    local = agent.experience.round.used()["row"][:256, :-3].clone()
    old = agent.experience.global_.used()["row"][:256, :-3].clone()

    def sampling() -> None:
        for _ in range(updates * 4):
            agent._sample()
            agent._sample_initial()

    def discriminator() -> None:
        for _ in range(2):
            rated.discriminator.step(local, old, agent.learning_rng)

    def rating() -> None:
        rated.rate(agent.experience.global_.used()["row"][:RATED], agent.normalizer)

    def update() -> None:
        agent.update(updates)

    return update, discriminator, rating, sampling


def products(config: Config) -> list[tuple[float, tuple[int, int, int, int]]]:
    """List (times per update, (heads, rows, inner, columns)) of the matrix products, for the default switches."""
    batch, hidden, heads = config.batch_size, config.hidden_size, config.critics
    listed: list[tuple[float, tuple[int, int, int, int]]] = []

    def network(times: float, n: int, rows: int, sizes: tuple[int, ...], backward: tuple[bool, bool, bool]) -> None:
        forward_pass, to_weights, to_input = backward
        for layer, (a, b) in enumerate(itertools.pairwise(sizes)):
            if forward_pass:
                listed.append((times, (n, rows, a, b)))
            if to_weights:
                listed.append((times, (n, a, rows, b)))
            if to_input or (to_weights and layer > 0):
                listed.append((times, (n, rows, b, a)))

    actor, critic = (OBS, hidden, hidden, 2 * ACT), (OBS + ACT, hidden, hidden, 1)
    onward = batch + config.initial_batch_size
    network(1.0, 1, onward, actor, (True, False, False))  # actions at s' and s0
    network(1.0, heads, batch, critic, (True, False, False))  # target Q(s', a')
    network(1.0, heads, onward, critic, (True, True, False))  # Q(s, a) and Q(s0, a0)
    network(0.5, heads, onward, critic, (True, False, True))  # the actor's step through frozen critics
    network(0.5, 1, onward, actor, (False, True, False))
    return listed


def product_turn(config: Config, updates: int) -> Turn:
    """Compute the products alone, into memory that is there."""
    made = [
        (times, torch.randn(h, m, k), torch.randn(h, k, n), torch.empty(h, m, n))
        for times, (h, m, k, n) in products(config)
    ]

    def turn() -> None:
        for i in range(updates):
            for times, left, right, out in made:
                if times == 1.0 or i % 2:
                    torch.bmm(left, right, out=out)

    return turn


def reference_turns(path: Path, updates: int, stored: int = 100_000) -> tuple[Turn, Turn]:
    """Set the authors' program up as its own main does: its agent, its discriminator, its buffers, its defaults."""
    sys.path.insert(0, str(path))
    from model.algo import OMPO as Reference  # type: ignore[import-not-found] # noqa: N811
    from model.discriminator import Discriminator_SAS  # type: ignore[import-not-found]
    from utils.default_config import default_config  # type: ignore[import-not-found]
    from utils.Replaybuffer import ReplayMemory  # type: ignore[import-not-found]

    default_config.update({"cuda": False, "device": 0})
    space = SimpleNamespace(shape=(ACT,), high=np.ones(ACT), low=-np.ones(ACT))
    agent, discriminator = Reference(OBS, space, default_config), Discriminator_SAS(OBS, ACT, default_config)
    writer = SimpleNamespace(add_scalar=lambda *_: None)
    random.seed(0)
    batch = transitions(Origin.SOURCE, stored, np.random.default_rng(1))
    memory, local, initial = (ReplayMemory(size, 0) for size in (CAPACITY, 1_000, CAPACITY))
    for i in range(stored):
        row = (batch.obs[i], batch.action[i], batch.reward[i], batch.next_obs[i], 1.0)
        memory.push(*row)
        if i < 1_000:
            local.push(*row)
            initial.push(batch.obs[i], 0, 0, 0, 0)
    count = 0

    def update() -> None:
        nonlocal count
        for _ in range(updates):
            agent.update_parameters(initial, memory, discriminator, default_config.batch_size, count, writer)
            count += 1

    return update, lambda: discriminator.update(local, memory, default_config.gail_batch)


def measure(turns: dict[str, tuple[Turn, int]], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Time one call of every turn in each round; returns seconds per unit of work."""
    for turn, _ in turns.values():
        turn()
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, (turn, units) in turns.items():
            start = clock()
            turn()
            seconds[name].append((clock() - start) / units)
    return seconds


def per_update(seconds: dict[str, list[float]], name: str, batches: int) -> list[float]:
    """Add a round's share, `batches` of the discriminator and a rating, to the updates' seconds, turn by turn."""
    steps = seconds[f"{name} discriminator"]
    ratings = seconds.get(f"{name} rating", [0.0] * len(steps))
    return [
        update + (batches * step + CAPACITY * rating) / UPDATES_PER_ROUND
        for update, step, rating in zip(seconds[name], steps, ratings, strict=True)
    ]


def ratio(upper: list[float], lower: list[float]) -> float:
    """Take the median of the rounds' ratios: both sides of each were measured in the same moments."""
    return statistics.median(a / b for a, b in zip(upper, lower, strict=True))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, help="a checkout of the authors' program (Roythuly/OMPO)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch's threads, for everybody")
    parser.add_argument("--rounds", type=int, default=15, help="alternating turns")
    args = parser.parse_args()

    updates = 10
    turns: dict[str, tuple[Turn, int]] = {}
    agents = {
        "ours": our_agent({}),
        "ours, weighted replay": our_agent({"replay_temper": 1.0}),
        "ours, authors' switches": our_agent(AUTHORS),
    }
    torch.set_num_threads(args.threads)  # after the agents, which set their own
    for name, agent in agents.items():
        update, discriminator, rating, sampling = our_turns(agent, updates)
        turns[name] = (update, updates)
        turns[f"{name} discriminator"] = (discriminator, 2)
        turns[f"{name} rating"] = (rating, RATED)
        turns[f"{name} sampling"] = (sampling, updates * 4)
    turns["products"] = (product_turn(Config(), updates), updates)
    if args.reference:
        update, discriminator = reference_turns(args.reference, 4)
        turns["reference"], turns["reference discriminator"] = (update, 4), (discriminator, 1)
    clock = time.process_time if args.threads == 1 else time.perf_counter
    seconds = measure(turns, args.rounds, clock)

    made = {name: per_update(seconds, name, agent.config.discriminator_steps) for name, agent in agents.items()}
    ours, bare = made["ours"], seconds["products"]
    reference = per_update(seconds, "reference", 200) if args.reference else None
    print(f"{args.threads} thread(s), batch 256, two networks of 2 x 256, obs {OBS}, act {ACT}, D_G full with 1e6")
    print(f"{'':28}{'updates/s':>12}{'to reference':>14}{'of products':>13}{'sampling':>10}")
    for name in agents:
        mine = made[name]
        beside = f"{ratio(reference, mine):13.2f}x" if reference else f"{'-':>14}"
        share = f"{100 * ratio(bare, mine):12.1f}%" if name == "ours" else f"{'-':>13}"
        sampling_share = 100 * ratio(seconds[f"{name} sampling"], mine)
        print(f"{name:28}{1 / statistics.median(mine):12.1f}{beside}{share}{sampling_share:9.2f}%")
    print(f"{'bare matrix products':28}{1 / statistics.median(bare):12.1f}")
    if reference:
        print(f"{'authors program':28}{1 / statistics.median(reference):12.1f}")
    result = {
        "updates_per_s": round(1 / statistics.median(ours), 2),
        "ratio_to_reference": round(ratio(reference, ours), 3) if reference else None,
        "share_of_matmul": round(ratio(bare, ours), 4),
        "sampling_share": round(ratio(seconds["ours sampling"], ours), 4),
        "weighted_to_uniform": round(ratio(ours, made["ours, weighted replay"]), 4),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
