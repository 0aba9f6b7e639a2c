"""Lets MuJoCo draw on machines without a screen: it reads once, when it is imported, how to."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import MutableMapping

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def choose_renderer(environment: MutableMapping[str, str]) -> None:
    """Set MUJOCO_GL=egl where nothing is chosen, there is no screen, and EGL is installed."""
    chosen = "MUJOCO_GL" in environment or any(environment.get(name) for name in _SCREENS)
    if not chosen and sys.platform == "linux" and _has_egl():
        environment["MUJOCO_GL"] = "egl"


def _has_egl() -> bool:
    """Without the library even importing mujoco would fail."""
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    return True
