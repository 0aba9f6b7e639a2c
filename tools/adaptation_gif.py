"""Draw docs/images/adaptation.gif: the same goals before and after one adaptation run, side by side, without a screen.

    tools/with_ros python tools/adaptation_gif.py

Rehearses a run with the defaults of `make adapt` and draws the measured joint positions of its evaluations. Takes some
minutes; needs EGL (on Debian and Ubuntu: libegl1 libgl1-mesa-dri).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ompo_ros.experiments.pretrain import node_settings
from ompo_ros.experiments.rehearse import AgentPolicy, Rig, make_rehearsal, rehearse
from ompo_ros.learning import Agent, Config
from ompo_ros.learning.pacing import Pacing
from ompo_ros.resources import resource_path
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Transitions

OUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "adaptation.gif"
NETWORKS, SIMULATOR, DOMAIN = "models/policies/panda_reach.safetensors", "panda_gym", "creeping"
TASK, STEPS, EPISODES = Task("reach", "dense"), 500, 4
SIZE, STRIDE, LINGER = (320, 240), 2, 10  # pixels of a panel; control steps between frames; frames at the end
GREEN, RED, INK = (30, 130, 60), (180, 40, 40), (40, 40, 40)


class Camera:
    """Draws a posture and its goal."""

    def __init__(self) -> None:
        self._model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/reach.xml")))
        self._data = mujoco.MjData(self._model)
        self._renderer = mujoco.Renderer(self._model, height=2 * SIZE[1], width=2 * SIZE[0])

    def picture(self, obs: NDArray[np.float32]) -> Image.Image:
        """Take one observation's joint positions and goal."""
        self._data.qpos[:7] = obs[TASK.contract.slice_of("position")]
        self._model.site_pos[self._model.site("goal").id] = obs[TASK.contract.slice_of("goal")]
        mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, camera="overview")
        return Image.fromarray(self._renderer.render()).resize(SIZE, Image.Resampling.LANCZOS)


def play(rig: Rig, agent: Agent) -> list[Transitions]:
    """Deterministic episodes; an evaluation always has the same goals."""
    evaluation, playing = rig.collector.player.evaluate(AgentPolicy(agent), EPISODES), rig.episodes()
    while not evaluation.done:
        next(playing)
    rig.collector.player.stop_evaluation()
    return [episode.transitions for episode in evaluation.played if episode.transitions is not None]


def panel(camera: Camera, title: str, episode: Transitions, step: int) -> Image.Image:
    """One side of a frame, with the distance from the goal."""
    obs = episode.obs[step] if step < len(episode) else episode.next_obs[-1]
    image = camera.picture(obs)
    draw, distance = ImageDraw.Draw(image), float(TASK.distance(obs))
    draw.text((8, 5), title, fill=INK, font=ImageFont.load_default(15))
    result = f"{100 * distance:.0f} cm from the goal"
    draw.text((8, 24), result, fill=GREEN if TASK.is_success(obs) else RED, font=ImageFont.load_default(13))
    return image


def frames(before: list[Transitions], after: list[Transitions]) -> list[Image.Image]:
    """Both sides of every goal in turn."""
    camera, pictures = Camera(), []
    for left, right in zip(before, after, strict=True):
        steps = [*range(0, len(left), STRIDE), *([len(left)] * LINGER)]
        for step in steps:
            frame = Image.new("RGB", (2 * SIZE[0] + 4, SIZE[1]), "white")
            frame.paste(panel(camera, "before", left, step), (0, 0))
            frame.paste(panel(camera, f"after {STEPS} steps ({STEPS / 25:.0f} s)", right, step), (SIZE[0] + 4, 0))
            pictures.append(frame.quantize(64))
    return pictures


def main() -> None:
    """Rehearse, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    settings = node_settings("learner")
    pacing = Pacing(settings["warmup"], settings["source_ratio"], settings["update_to_data"], STEPS)
    config = Config.from_dict(settings["learning"])
    rig, agent, sources = make_rehearsal(config, NETWORKS, SIMULATOR, DOMAIN, belief=True, seed=seed)
    before = play(rig, agent)
    for steps in rehearse(rig, agent, sources, pacing):
        print(f"{steps} of {STEPS} steps", flush=True)
    pictures = frames(before, play(rig, agent))
    pictures[0].save(OUT, save_all=True, append_images=pictures[1:], duration=40 * STRIDE, loop=0, optimize=True)
    print(f"{OUT}: {len(pictures)} frames, {OUT.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
