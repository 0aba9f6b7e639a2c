"""A moving picture of a recorded run: the page's scene, drawn by a browser without a screen."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import viser
from PIL import Image, ImageDraw, ImageFont

from ompo_ros.files import write_whole
from ompo_ros.monitor.scene import LOOKS_AT, VIEWPOINT, ArmScene
from ompo_ros.orphans import end_with_parent
from ompo_ros.recording.evaluations import Comparison, PlayedEvaluation
from ompo_ros.task.kinematics import FloatArray, end_effector_position
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import SUCCESS_DISTANCE, Task

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_DRAWN_BY_SOFTWARE: Final = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage")
_PATIENCE: Final = 120.0  # s for the browser, and for each picture
_SETTLED: Final = 5.0  # s without a change
_SIZE: Final = (320, 260)  # pixels of a side
_BAR: Final = 44  # pixels of text above it
_FIELD: Final = 0.62  # rad, vertical field of view
_TABLE: Final = (0.5, -0.02, 0.2)  # what a picture of push looks at: the whole table matters, not the whole arm
_STRIDE: Final = 3  # control periods between two frames
_LINGER: Final = 900  # ms at the end of an episode
_COLOURS: Final = 64
_PAPER: Final = (20, 24, 31)
_INK, _GOOD, _BAD = (223, 229, 238), (99, 214, 139), (255, 143, 122)


class NoBrowser(RuntimeError):
    """Nothing can draw the scene; the message says what is missing."""


class Frame(NamedTuple):
    """One picture and how long it is shown, ms."""

    image: Image.Image
    duration: int


def draw(comparison: Comparison, robot: Robot, task: Task, out: Path, progress: Callable[[str], object]) -> int:
    """Write the run's first and last evaluation side by side as a GIF; returns the number of frames."""
    period = 1000.0 / robot.control_rate
    frames: list[Frame] = []
    with studio(robot, task) as camera:
        pairs = list(zip(comparison.before, comparison.after, strict=True))
        for number, (before, after) in enumerate(pairs, start=1):
            progress(f"goal {number} of {len(pairs)}")
            moved = f"after {comparison.steps} steps, {comparison.steps / robot.control_rate:.0f} s of motion"
            sides = (_side(camera, "before", before, task), _side(camera, moved, after, task))
            images = [_beside(left, right) for left, right in zip(*sides, strict=False)]
            frames += [Frame(image, round(_STRIDE * period)) for image in images[:-1]]
            frames.append(Frame(images[-1], _LINGER))
    palette = _palette([frame.image for frame in frames])
    pictures = [frame.image.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    content, durations = io.BytesIO(), [frame.duration for frame in frames]
    pictures[0].save(
        content, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True
    )
    write_whole(out, content.getvalue())
    return len(frames)


class Camera:
    """Draws postures from where the page shows them."""

    def __init__(self, scene: ArmScene, client: viser.ClientHandle, looks_at: tuple[float, ...]) -> None:
        self._scene, self._client = scene, client
        self._wxyz = _looking(np.array(VIEWPOINT), np.array(looks_at))

    def begin(self, goal: FloatArray) -> None:
        """Put the arm to an episode's beginning."""
        self._scene.show_goal(goal)
        self._scene.begin_trace()

    def wait_for_light(self, position: FloatArray) -> None:
        """Draw until nothing changes: a browser loads the light after the scene."""
        before, still_since, began = b"", time.monotonic(), time.monotonic()
        while time.monotonic() - still_since < _SETTLED and time.monotonic() - began < _PATIENCE:
            now = self.picture(position, None).tobytes()
            before, still_since = now, still_since if now == before else time.monotonic()

    def picture(self, position: FloatArray, cube: FloatArray | None) -> Image.Image:
        """Take one posture (7,) and the cube (3,)."""
        self._scene.show_arm(position, None)
        if cube is not None:
            self._scene.show_cube(cube)
        width, height = _SIZE
        seen = self._client.get_render(
            height,
            width,
            wxyz=self._wxyz,
            position=np.array(VIEWPOINT),
            fov=_FIELD,
            transport_format="png",
            timeout=_PATIENCE,
        )
        image = Image.new("RGB", _SIZE, _PAPER)
        drawn = Image.fromarray(seen)
        image.paste(drawn, mask=drawn.getchannel("A"))
        return image


@contextlib.contextmanager
def studio(robot: Robot, task: Task) -> Iterator[Camera]:
    """The page's scene without its panels, in front of a browser of its own."""
    browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise NoBrowser(f"the scene is drawn by a browser, install one of {', '.join(_BROWSERS)}")
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # browsers open connections to spare
    with contextlib.ExitStack() as stack:
        with contextlib.redirect_stdout(io.StringIO()):  # viser prints its address
            server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        stack.callback(_stop, server)
        server.gui.configure_theme(dark_mode=True, control_layout="collapsible")
        scene = ArmScene(server.scene, robot, task)
        profile = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        options = ["--headless", "--window-size=300,300", f"--user-data-dir={profile}"]
        options += ["--no-sandbox"] if os.geteuid() == 0 else []  # chromium refuses it to root
        command = [browser, *options, *_DRAWN_BY_SOFTWARE, f"http://127.0.0.1:{server.get_port()}/"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end_with_parent
        )
        stack.callback(_end, process)
        camera = Camera(scene, _first_client(server, process), _TABLE if task.has_cube else LOOKS_AT)
        camera.wait_for_light(robot.home)
        yield camera


def _first_client(server: viser.ViserServer, process: subprocess.Popen[bytes]) -> viser.ClientHandle:
    deadline = time.monotonic() + _PATIENCE
    while not (clients := server.get_clients()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise NoBrowser("the browser did not open the scene: does it start by `chromium --headless`?")
        time.sleep(0.05)
    return next(iter(clients.values()))


def _stop(server: viser.ViserServer) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _side(camera: Camera, title: str, episode: PlayedEvaluation, task: Task) -> list[Image.Image]:
    """One evaluation, with what it comes to as text."""
    camera.begin(episode.goal)
    last = len(episode.positions) - 1
    images = []
    for step in [*range(0, last, _STRIDE), last]:
        cube = episode.cubes[step] if task.has_cube and episode.cubes is not None else None
        image = Image.new("RGB", (_SIZE[0], _BAR + _SIZE[1]), _PAPER)
        image.paste(camera.picture(episode.positions[step], cube), (0, _BAR))
        place = end_effector_position(episode.positions[step]) if cube is None else cube
        _write(image, title, float(np.linalg.norm(place - episode.goal)))
        images.append(image)
    return images


def _write(image: Image.Image, title: str, distance: float) -> None:
    text, reached = ImageDraw.Draw(image), distance < SUCCESS_DISTANCE
    text.text((8, 3), title, fill=_INK, font=ImageFont.load_default(15))
    result = f"{100 * distance:.0f} cm from the goal" + (", reached" if reached else "")
    text.text((8, 22), result, fill=_GOOD if reached else _BAD, font=ImageFont.load_default(15))


def _palette(images: list[Image.Image]) -> Image.Image:
    """Common colours of all frames, so that what rests does not flicker; goal and cube are small, but count."""
    width, height = images[0].size
    sheet = Image.new("RGB", (width, height * len(images)))
    for place, image in enumerate(images):
        sheet.paste(image, (0, height * place))
    return sheet.quantize(_COLOURS, method=Image.Quantize.MAXCOVERAGE)


def _beside(left: Image.Image, right: Image.Image) -> Image.Image:
    image = Image.new("RGB", (left.width + 4 + right.width, left.height), "white")
    image.paste(left, (0, 0))
    image.paste(right, (left.width + 4, 0))
    return image


def _looking(place: FloatArray, at: FloatArray) -> FloatArray:
    """Orientation of a camera: x to the right, y down, z ahead."""
    ahead = (at - place) / np.linalg.norm(at - place)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    axes = np.stack((right, np.cross(ahead, right), ahead), axis=1)
    return np.asarray(viser.transforms.SO3.from_matrix(axes).wxyz)
