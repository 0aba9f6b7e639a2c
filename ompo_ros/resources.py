"""Finds the package's data files (`config/`, `models/`) in a source checkout or an installation."""

from __future__ import annotations

from pathlib import Path


def resource_path(relative: str) -> Path:
    """Find the file or folder `relative` (such as `models/panda/panda.xml`), wherever this installation keeps it."""
    roots = _roots()
    for root in roots:
        candidate = root / relative
        if candidate.exists():
            return candidate
    looked = ", ".join(str(root) for root in roots)
    raise FileNotFoundError(f"{relative} was not found in any of: {looked}. Reinstall ompo_ros.")


def settings_path(task: str) -> Path:
    """The parameter file of an adaptation run of a task."""
    return resource_path("config/adapt_push.yaml" if task == "push" else "config/adapt.yaml")


def networks_name(task: str) -> str:
    """The shipped networks of a task, as `resource_path` finds them."""
    return f"models/policies/panda_{task}.safetensors"


def _roots() -> list[Path]:
    """The checkout, or the share/ of the prefix this module is installed under: never that of another installation."""
    packages = Path(__file__).resolve().parents[1]
    prefix = (packages / "../../..").resolve()  # of lib/python3.X/site-packages
    return [packages, prefix / "share" / "ompo_ros"]
