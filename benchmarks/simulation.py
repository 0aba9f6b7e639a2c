"""How fast the batched Panda is beside panda-gym's own loop, bare MuJoCo stepping, and itself without randomization.

    python benchmarks/simulation.py [--arms N] [--threads N] [--rounds N]

Every round times all four loops one after the other, so that other load on the machine affects them equally; the ratios
are medians over the rounds. Last line: one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import gymnasium
import mujoco
import numpy as np

from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.kinematics import HOME
from ompo_ros.task.tasks import INCREMENT, Task

SUBSTEPS = 20


def batched_loop(arms: int, threads: int, fixed: bool) -> Callable[[int], None]:
    """Run the batched Panda as the source collector does; `fixed` keeps each arm's first draw for ever."""
    env = PandaVectorEnv(arms, "reach", "dense", "randomized", threads)
    env.reset(seed=0)
    if fixed:
        env.world.domain = replace(load_domain("randomized"), drawn={})
    generator = np.random.default_rng(0)
    actions = generator.uniform(-1.0, 1.0, (100, arms, 7)).astype(np.float32)

    def run(steps: int) -> None:
        for step in range(steps // arms):
            env.step(actions[step % len(actions)])

    return run


def bare_loop(arms: int, threads: int) -> Callable[[int], None]:
    """Step the same randomized models with `mj_step` alone, on as many threads, towards ready-made random postures."""
    env = PandaVectorEnv(arms, "reach", "dense", "randomized", threads)
    env.reset(seed=0)
    plant = cast("MujocoArms", env.world.plant)
    pairs = [(model, mujoco.MjData(model)) for model in plant.models]
    for _, data in pairs:
        data.qpos[:] = HOME
    pool = ThreadPoolExecutor(threads)
    postures = HOME + np.random.default_rng(0).uniform(-INCREMENT, INCREMENT, (100, 7))

    def chunk(start: int, repeats: int) -> None:
        for repeat in range(repeats):
            for model, data in pairs[start::threads]:
                data.ctrl[:] = postures[repeat % len(postures)]
                mujoco.mj_step(model, data, SUBSTEPS)

    def run(steps: int) -> None:
        for future in [pool.submit(chunk, start, steps // arms) for start in range(threads)]:
            future.result()

    return run


def panda_gym_loop() -> Callable[[int], None]:
    """Run panda-gym's reach task, joint control, dense reward, as its users do."""
    import panda_gym  # noqa: F401 - registers its environments

    env = gymnasium.make("PandaReachJointsDense-v3")
    env.reset(seed=0)
    env.action_space.seed(0)

    def run(steps: int) -> None:
        for _ in range(steps):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()

    return run


def rate(run: Callable[[int], None], steps: int) -> float:
    """Time one run, in control steps per second."""
    begin = time.perf_counter()
    run(steps)
    return steps / (time.perf_counter() - begin)


def main() -> None:
    """Time all loops in turn and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--arms", type=int, default=256, help="arms in the batch")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads that step them")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of all loops")
    options = parser.parse_args()
    steps = 100 * options.arms  # two episodes of every arm
    loops = {
        "batched, new randomization every episode": (batched_loop(options.arms, options.threads, False), steps),
        "batched, randomization fixed": (batched_loop(options.arms, options.threads, True), steps),
        "bare mj_step of the same models": (bare_loop(options.arms, options.threads), steps),
        "panda-gym's own loop": (panda_gym_loop(), 300),
    }
    for run, count in loops.values():
        run(count // 4)
    rates: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(options.rounds):
        for name, (run, count) in loops.items():
            rates[name].append(rate(run, count))

    names = list(loops)
    print(f"{Task('reach', 'dense').contract.task}: {options.arms} arms, {options.threads} threads, 20 x 2 ms a step")
    for name in names:
        print(f"{name:42s} {statistics.median(rates[name]):9.0f} control steps/s")

    def ratio(first: str, second: str) -> float:
        return statistics.median(a / b for a, b in zip(rates[first], rates[second], strict=True))

    result = {
        "ratio_to_panda_gym": round(ratio(names[0], names[3]), 2),
        "share_of_bare": round(ratio(names[0], names[2]), 3),
        "randomization_cost": round(1.0 - ratio(names[0], names[1]), 4),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
