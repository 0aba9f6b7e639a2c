"""The arm in viser's scene: as measured, as commanded, its goal, cube, workspace and the way its hand took."""

from __future__ import annotations

from collections import deque
from typing import Final

import mujoco
import numpy as np
import viser
from mjviser.conversions import merge_geoms

from ompo_ros.resources import resource_path
from ompo_ros.task.kinematics import FloatArray, end_effector_position
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import CUBE_HALF, SUCCESS_DISTANCE, Task

VIEWPOINT: Final = (1.3, -1.0, 0.85)  # of whoever opens the page, m
LOOKS_AT: Final = (0.38, 0.0, 0.32)
_TRACE: Final = 120  # places of the hand that are kept
_TRACE_STEP: Final = 2e-3  # m between two of them
_APART: Final = 0.01  # rad between command and measurement from which the ghost is worth showing
_SAME: Final = ("link0", "link1")  # bodies that look alike in every posture: a ghost of them only flickers
_GHOST: Final = (90, 170, 255)
_GOAL: Final = (60, 210, 110)
_TRACE_COLOUR: Final = np.array([255, 170, 60])
_CORNERS: Final = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b).bit_count() == 1]  # a box's edges


class _Arm:
    """One posture: a chain of frames of which only the joints' rotations ever change."""

    def __init__(self, scene: viser.SceneApi, root: str, model: mujoco.MjModel, ghost: bool) -> None:
        self._frames: list[tuple[viser.FrameHandle, FloatArray]] = []
        paths = {0: root}
        self.root = scene.add_frame(root, show_axes=False)
        for body in range(1, model.nbody):
            path = f"{paths[model.body_parentid[body]]}/{model.body(body).name}"
            paths[body] = path
            frame = scene.add_frame(path, show_axes=False, wxyz=model.body_quat[body], position=model.body_pos[body])
            if model.body_jntnum[body]:
                self._frames.append((frame, model.body_quat[body].copy()))
            geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == body]
            if geoms and not (ghost and model.body(body).name in _SAME):
                _add_mesh(scene, f"{path}/visual", model, geoms, ghost)

    def show(self, position: FloatArray) -> None:
        """Turn the joints (7,) about their z axes."""
        for (frame, quaternion), angle in zip(self._frames, position, strict=True):
            w, x, y, z = quaternion
            c, s = np.cos(angle / 2.0), np.sin(angle / 2.0)
            frame.wxyz = np.array([w * c - z * s, x * c + y * s, y * c - x * s, w * s + z * c])


class ArmScene:
    """Everything in the scene; each `show_` takes the newest of its kind."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, task: Task) -> None:
        model = mujoco.MjModel.from_xml_path(str(resource_path("models/panda/panda.xml")))
        scene.set_up_direction("+z")
        scene.configure_default_lights(cast_shadow=False)  # shadows stripe round links, and take time to draw
        scene.add_grid(
            "/floor",
            width=5.0,
            height=5.0,
            position=(0.3, 0.0, -0.02),
            cell_color=(44, 48, 56),
            section_color=(60, 66, 76),
        )
        scene.add_box("/table", dimensions=(1.1, 0.9, 0.015), color=(120, 100, 80), position=(0.3, 0.0, -0.009))
        _add_box(scene, "/workspace", robot.workspace_low, robot.workspace_high, (150, 160, 175))
        self._arm = _Arm(scene, "/measured", model, ghost=False)
        self._ghost = _Arm(scene, "/commanded", model, ghost=True)
        self._ghost.root.visible = False
        self._goal = scene.add_icosphere("/goal", radius=SUCCESS_DISTANCE, color=_GOAL, opacity=0.35, visible=False)
        scene.add_icosphere("/goal/centre", radius=0.012, color=_GOAL)
        self._cube = scene.add_box("/cube", dimensions=3 * (2 * CUBE_HALF,), color=(230, 130, 30), visible=False)
        self._trail: deque[FloatArray] = deque([end_effector_position(robot.home)] * (_TRACE + 1), maxlen=_TRACE + 1)
        fade = np.linspace(0.1, 1.0, _TRACE)[:, None, None]
        self._trace = scene.add_line_segments(
            "/trace",
            self._segments(),
            (fade * np.tile(_TRACE_COLOUR, (_TRACE, 2, 1))).astype(np.uint8),
            thickness=3.0,
            thickness_units="screen",
        )
        self._has_trail = False
        self.goal_box = task.goal_box

    def show_arm(self, measured: FloatArray, commanded: FloatArray | None) -> None:
        """Show both postures (7,); the ghost only where it is elsewhere than the arm."""
        self._arm.show(measured)
        apart = commanded is not None and bool(np.abs(commanded - measured).max() > _APART)
        if self._ghost.root.visible != apart:
            self._ghost.root.visible = apart
        if apart and commanded is not None:
            self._ghost.show(commanded)
        hand = end_effector_position(measured)
        if not self._has_trail:
            self._trail.extend([hand] * (_TRACE + 1))
            self._has_trail = True
        elif np.linalg.norm(hand - self._trail[-1]) > _TRACE_STEP:
            self._trail.append(hand)
        else:
            return
        self._trace.points = self._segments()

    def begin_trace(self) -> None:
        """Have the next posture begin a new trace: the arm was put there."""
        self._has_trail = False

    def show_goal(self, goal: FloatArray) -> None:
        """Show the place (3,) that the arm, or its cube, is to reach; the sphere is where it has."""
        self._goal.position, self._goal.visible = goal, True

    def show_cube(self, cube: FloatArray) -> None:
        """Show the cube (3,)."""
        self._cube.position, self._cube.visible = cube, True

    def _segments(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        places = np.array(self._trail, dtype=np.float32)
        return np.stack((places[:-1], places[1:]), axis=1)


def clicked_goal(
    origin: tuple[float, ...], direction: tuple[float, ...], height: float, box: tuple[FloatArray, FloatArray]
) -> tuple[float, float, float] | None:
    """The place at a height that a click's ray meets, moved into the box of goals; None for a ray that misses it."""
    start, ray = np.array(origin), np.array(direction)
    if abs(ray[2]) < 1e-6 or (height - start[2]) / ray[2] < 0.0:
        return None
    place = start + ray * (height - start[2]) / ray[2]
    x, y, z = np.clip(place, *box).tolist()
    return x, y, z


def _add_mesh(scene: viser.SceneApi, path: str, model: mujoco.MjModel, geoms: list[int], ghost: bool) -> None:
    mesh = merge_geoms(model, geoms)
    if ghost:
        scene.add_mesh_simple(path, mesh.vertices, mesh.faces, color=_GHOST, opacity=0.3, cast_shadow=False)
    else:
        scene.add_mesh_trimesh(path, mesh)


def _add_box(scene: viser.SceneApi, path: str, low: FloatArray, high: FloatArray, colour: tuple[int, int, int]) -> None:
    corners = np.array([[(low, high)[i >> axis & 1][axis] for axis in range(3)] for i in range(8)])
    edges = corners[np.array(_CORNERS)].astype(np.float32)
    scene.add_line_segments(path, edges, np.array(colour), thickness=1.5, thickness_units="screen")
