"""Draw every world for docs/domains.md into docs/images: `PYTHONPATH=. python tools/render_worlds.py`.

Without a screen this needs EGL (on Debian and Ubuntu: libegl1 libgl1-mesa-dri). Worlds whose packages are not installed
are left out: the Meta-World picture comes from a second run in its own environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import matplotlib.image
import numpy as np
from numpy.typing import NDArray

import ompo_ros.sim  # noqa: F401 - registers the worlds
from ompo_ros.sim.registration import META_WORLD

Image = NDArray[np.uint8]
FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
LOCOMOTION_STEPS = 12  # so that a robot stands on the floor it starts above


def picture(name: str, steps: int = 0, **options: Any) -> Image:  # noqa: ANN401 - options of any world
    """Make a world, let it run idle for a few steps, draw it."""
    env = gymnasium.make(name, render_mode="rgb_array", **options)
    env.reset(seed=1)
    for _ in range(steps):
        env.step(np.zeros(env.action_space.shape or (), dtype=np.float32))
    image = np.asarray(env.render())
    env.close()
    return image


def tiles(images: list[Image], columns: int, shrink: int) -> Image:
    """Put pictures side by side, each made smaller by averaging `shrink` x `shrink` pixels."""
    small = []
    for image in images:
        height, width = (size // shrink * shrink for size in image.shape[:2])
        blocks = image[:height, :width].reshape(height // shrink, shrink, width // shrink, shrink, 3)
        small.append(blocks.mean(axis=(1, 3)).astype(np.uint8))
    rows = [np.concatenate(small[start : start + columns], axis=1) for start in range(0, len(small), columns)]
    return np.concatenate(rows, axis=0)


def save(
    name: str, worlds: list[tuple[str, dict[str, Any]]], columns: int = 2, shrink: int = 2, steps: int = 0
) -> None:
    """Draw the worlds into one file, unless their packages are missing."""
    try:
        image = tiles([picture(world, steps, **options) for world, options in worlds], columns, shrink)
    except ImportError as error:
        print(f"{name}: left out. {error}")
        return
    path = FOLDER / f"{name}.png"
    matplotlib.image.imsave(path, image)
    print(f"{name}: {image.shape[1]} x {image.shape[0]}, {path.stat().st_size // 1024} kB")


def main() -> None:
    """Draw all pictures of the documentation."""
    FOLDER.mkdir(exist_ok=True)
    save("panda", [("ompo/PandaReachDense-v0", {}), ("ompo/PandaPushDense-v0", {})])
    save("panda_gym", [("ompo/PandaGymReachDense-v0", {}), ("ompo/PandaGymPushDense-v0", {})])
    for robot in ("Hopper", "Walker2d"):
        worlds: list[tuple[str, dict[str, Any]]] = [(f"ompo/{robot}{shift}-v0", {}) for shift in ("Source", "Target")]
        save(robot.lower(), worlds, steps=LOCOMOTION_STEPS)
    save("ant_humanoid", [("ompo/AntTarget-v0", {}), ("ompo/HumanoidTarget-v0", {})], steps=LOCOMOTION_STEPS)
    names = ["".join(word.capitalize() for word in task.split("-")) for task in META_WORLD]
    save("metaworld", [(f"ompo/MetaWorld{name}-v0", {}) for name in names], columns=4, shrink=6)


if __name__ == "__main__":
    main()
