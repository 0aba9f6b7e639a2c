"""Finds the package's data files (`config/`, `models/`) in a source checkout or an installation."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def resource_path(relative: str) -> Path:
    """Find the file or folder `relative` (such as `models/panda/panda.xml`), wherever this installation keeps it."""
    roots = _roots()
    for root in roots:
        candidate = root / relative
        if candidate.exists():
            return candidate
    looked = ", ".join(str(root) for root in roots)
    raise FileNotFoundError(
        f"{relative} was not found in any of: {looked}. Reinstall ompo_ros, or source its workspace."
    )


def _roots() -> list[Path]:
    prefixes = [sys.prefix, *filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))]
    shares = [Path(prefix) / "share" / "ompo_ros" for prefix in prefixes]
    return [Path(__file__).resolve().parent.parent, *shares]
