"""Installs ompo_ros the same way for colcon and for pip: share/, lib/ompo_ros/ and the ament index."""

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "ompo_ros"
ROOT = Path(__file__).parent
NODES = sorted(path.stem for path in (ROOT / PACKAGE / "nodes").glob("*.py") if "def main()" in path.read_text())
# What should work; requirements/ pins what is tested.
EXTRAS = {
    # The maker's binding has wheels for x86_64, glibc 2.34 or newer and Python 3.10 to 3.12.
    "franka": ["numpy>=1.26,<3", 'pylibfranka>=0.21,<0.22; python_version < "3.13"', "ruckig>=0.15,<1"],
    "learning": ["numpy>=1.26,<3", "safetensors>=0.4,<1", "tensorboard>=2.16,<3", "torch>=2.4,<3"],
    "lerobot": ["pyarrow>=17,<27"],
    "policy": ["numpy>=1.26,<3", "onnx>=1.16,<2", "onnxruntime>=1.18,<2", "PyYAML>=6,<7"],
    "recording": ["mcap>=1.6,<2", "numpy>=1.26,<3"],
    "simulation": [
        "gymnasium[mujoco]>=1.0,<2",
        "matplotlib>=3.8,<4",
        "mujoco>=3.3,<4",
        'panda-gym>=3.0.7,<4; python_version < "3.12"',
        "PyYAML>=6,<7",
        "scipy>=1.11,<2",
    ],
    "view": ["mjviser>=0.0.14,<0.1", "mujoco>=3.3,<4", "pillow>=10.1,<14", "viser>=1.1,<1.2", "websockets>=14,<17"],
}

# pip puts console scripts into bin/, where ROS does not look; relative, so that the prefix may move.
LAUNCHER = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../../bin/python" -m {package}.nodes {node} "$@"
"""


def version() -> str:
    """The version as the package itself states it."""
    found = re.search(r'__version__ = "(.+)"', (ROOT / PACKAGE / "__init__.py").read_text())
    if found is None:
        raise RuntimeError(f"{PACKAGE}/__init__.py states no __version__")
    return found[1]


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
    """The executables that are missing: pip puts console scripts into bin/ alone, colcon into lib/ompo_ros/ alone."""
    if "bdist_wheel" not in sys.argv:
        return [("bin", ["scripts/ompo"])]
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
    package_data={PACKAGE: ["py.typed", "monitor/shell.html"]},
    data_files=shared_files() + launchers(),
    python_requires=">=3.10",
    install_requires=["numpy>=1.26,<3"],
    extras_require=EXTRAS,
    zip_safe=False,
    maintainer="ompo_ros maintainers",
    maintainer_email="maintainers@ompo-ros.example",
    description="Online off-dynamics policy adaptation (OMPO) for robot arms, as ROS 2 nodes.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"ompo = {PACKAGE}.cli.__main__:main",
            *(f"{node} = {PACKAGE}.nodes.__main__:start_by_name" for node in NODES),
        ]
    },
)
