"""A run's identity: drawn once and kept in the run's folder, so that a resumed run keeps it."""

from __future__ import annotations

import secrets
from pathlib import Path

from ompo_ros.files import write_whole

FILE = "run_id"


def new_run_id() -> str:
    """An identity that no other run has; it begins with a letter, or YAML would take some for numbers."""
    return f"run-{secrets.token_hex(8)}"


def run_id_of(folder: Path) -> str:
    """Read the identity of the run in this folder, or draw and store a new one."""
    path = folder / FILE
    if not path.exists():
        write_whole(path, new_run_id().encode())
    return path.read_text().strip()
