"""Installs ompo_ros the same way for colcon and for pip: share/, lib/ompo_ros/ and the ament index."""

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "ompo_ros"
ROOT = Path(__file__).parent
NODES = sorted(path.stem for path in (ROOT / PACKAGE / "nodes").glob("*.py") if "def main()" in path.read_text())
LAYERS = ["learning", "policy", "simulation", "ros", "testing", "development"]

# pip puts console scripts into bin/, where ROS does not look; relative, so that the prefix may move.
LAUNCHER = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../../bin/python" -m {package}.nodes.{node} "$@"
"""


def version() -> str:
    """The version as the package itself states it."""
    found = re.search(r'__version__ = "(.+)"', (ROOT / PACKAGE / "__init__.py").read_text())
    if found is None:
        raise RuntimeError(f"{PACKAGE}/__init__.py states no __version__")
    return found[1]


def requirements(layer: str) -> list[str]:
    """One layer's pins; requirements/ is the only place that holds versions."""
    lines = (ROOT / "requirements" / f"{layer}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def shared_files() -> list[tuple[str, list[str]]]:
    """Everything a user finds under share/ompo_ros, folder by folder."""
    folders: dict[str, list[str]] = {f"share/{PACKAGE}": ["package.xml"]}
    for top in ("launch", "config", "models"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                relative = path.relative_to(ROOT)
                folders.setdefault(f"share/{PACKAGE}/{relative.parent}", []).append(str(relative))
    return [("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]), *folders.items()]


def launchers() -> list[tuple[str, list[str]]]:
    """Executables for `ros2 run` in a wheel; colcon makes its own from the console scripts (setup.cfg)."""
    if "bdist_wheel" not in sys.argv:
        return []
    folder = Path("build") / "launchers"
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    for node in NODES:
        path = ROOT / folder / node
        path.write_text(LAUNCHER.format(package=PACKAGE, node=node))
        path.chmod(0o755)
    return [(f"lib/{PACKAGE}", [str(folder / node) for node in NODES])]


setup(
    name=PACKAGE,
    version=version(),
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=shared_files() + launchers(),
    python_requires=">=3.10",
    install_requires=["numpy"],
    extras_require={layer: requirements(layer) for layer in LAYERS},
    zip_safe=False,
    maintainer="ompo_ros maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-c8f021cf.example",
    description="Online off-dynamics policy adaptation (OMPO) for robot arms, as ROS 2 nodes.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [f"ompo = {PACKAGE}.cli:main", *(f"{node} = {PACKAGE}.nodes.{node}:main" for node in NODES)]
    },
)
