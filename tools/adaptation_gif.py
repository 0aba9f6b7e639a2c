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
SIZE, BAR, CROP = (320, 240), 42, (130, 15, 594, 363)  # pixels of a picture, of the text above it, of what is drawn
STRIDE, LINGER = 2, 10  # control steps between two frames; frames at the end
GREEN, RED, INK = (20, 140, 60), (200, 30, 30), (40, 40, 40)


class Camera:
    """Draws a posture and its goal."""

    def __init__(self) -> None:
        self._model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/reach.xml")))
        self._data = mujoco.MjData(self._model)
        self._goal = self._model.site("goal").id
        self._model.site_size[self._goal], self._model.site_rgba[self._goal] = 0.025, (1.0, 0.1, 0.1, 1.0)
        self._renderer = mujoco.Renderer(self._model, height=2 * SIZE[1], width=2 * SIZE[0])

    def picture(self, obs: NDArray[np.float32]) -> Image.Image:
        """Take one observation's joint positions and goal."""
        self._data.qpos[:7] = obs[TASK.contract.slice_of("position")]
        self._model.site_pos[self._goal] = obs[TASK.contract.slice_of("goal")]
        mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, camera="overview")
        return Image.fromarray(self._renderer.render()).crop(CROP).resize(SIZE, Image.Resampling.LANCZOS)


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
    image = Image.new("RGB", (SIZE[0], BAR + SIZE[1]), "white")
    image.paste(camera.picture(obs), (0, BAR))
    draw, reached = ImageDraw.Draw(image), bool(TASK.is_success(obs))
    draw.text((6, 2), title, fill=INK, font=ImageFont.load_default(15))
    result = f"{100 * float(TASK.distance(obs)):.0f} cm from the goal" + (", reached" if reached else "")
    draw.text((6, 21), result, fill=GREEN if reached else RED, font=ImageFont.load_default(15))
    return image


def frames(before: list[Transitions], after: list[Transitions]) -> list[Image.Image]:
    """Both sides of every goal in turn."""
    camera, pictures = Camera(), []
    for left, right in zip(before, after, strict=True):
        steps = [*range(0, len(left), STRIDE), *([len(left)] * LINGER)]
        for step in steps:
            frame = Image.new("RGB", (2 * SIZE[0] + 4, BAR + SIZE[1]), "white")
            frame.paste(panel(camera, "before", left, step), (0, 0))
            frame.paste(
                panel(camera, f"after {STEPS} steps, {STEPS / 25:.0f} s of motion", right, step), (SIZE[0] + 4, 0)
            )
            pictures.append(frame.quantize(96, dither=Image.Dither.NONE))
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
