"""The package is what it says: it imports bare, is found by ROS, and declares what it uses."""

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix, get_package_share_directory
from packaging.requirements import Requirement

import ompo_ros

ROOT = Path(__file__).parent.parent
NODES = sorted(p.stem for p in (ROOT / "ompo_ros" / "nodes").glob("*.py") if "def main()" in p.read_text())
# What rosdep calls a module, where the names differ.
ROSDEP_KEYS = {
    "google": "python3-protobuf",
    "gymnasium": "python3-gymnasium-pip",
    "hypothesis": "python3-hypothesis",
    "matplotlib": "python3-matplotlib",
    "mujoco": "python3-mujoco-pip",
    "numpy": "python3-numpy",
    "onnxruntime": "python3-onnxruntime-pip",
    "pybullet": "python3-pybullet-pip",
    "packaging": "python3-packaging",
    "pytest": "python3-pytest",
    "torch": "python3-torch",
    "tensorboard": "python3-tensorboard-pip",
    "yaml": "python3-yaml",
}
UNKNOWN_TO_ROSDEP = {"metaworld": "metaworld", "onnx": "onnx", "panda_gym": "panda-gym", "safetensors": "safetensors"}


def test_imports_without_ros_and_without_torch():
    # -S hides every installed package, so that only the standard library and our own tree are left.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import ompo_ros; print(ompo_ros.__version__)"
    bare = [sys.executable, "-S", "-I", "-c"]
    assert subprocess.run([*bare, "import numpy"], capture_output=True).returncode != 0
    result = subprocess.run([*bare, code], capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip()) == (0, ompo_ros.__version__), result.stderr


@pytest.mark.parametrize("folder", [ROOT, ROOT / "ompo_msgs"])
def test_a_package_holds_the_licence_it_names(folder):
    licence = ElementTree.parse(folder / "package.xml").getroot().find("license")
    file = (folder / licence.get("file")).resolve()
    assert file.parent == folder.resolve()
    assert "Apache License" in file.read_text()


@pytest.mark.parametrize("node", NODES)
def test_ros_finds_every_node(node):
    executable = Path(get_package_prefix("ompo_ros")) / "lib" / "ompo_ros" / node
    assert os.access(executable, os.X_OK), f"{executable} is missing"


@pytest.mark.parametrize("folder", ["launch", "config", "models"])
def test_everything_shared_is_installed(folder):
    share = Path(get_package_share_directory("ompo_ros"))
    for path in (ROOT / folder).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            installed = share / path.relative_to(ROOT)
            assert installed.read_bytes() == path.read_bytes(), f"{installed} is not what the tree has"


def imported_modules(folder: Path) -> set[str]:
    modules = set()
    for path in folder.rglob("*.py"):
        for statement in ast.walk(ast.parse(path.read_text())):
            if isinstance(statement, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
                modules.add(statement.module.split(".")[0])
    own = {path.stem for here in ("test", "benchmarks") for path in (ROOT / here).rglob("*.py")}
    return modules - set(sys.stdlib_module_names) - {"ompo_ros"} - own


@pytest.mark.parametrize("folder", ["ompo_ros", "launch", "test"])
def test_every_import_is_declared(folder):
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    tags = {"depend", "exec_depend"} | ({"test_depend"} if folder == "test" else set())
    declared = {element.text for element in manifest if element.tag in tags}
    modules = imported_modules(ROOT / folder)
    needed = {ROSDEP_KEYS.get(module, module) for module in modules - UNKNOWN_TO_ROSDEP.keys()}
    assert needed <= declared, f"package.xml does not declare {sorted(needed - declared)}"
    readme = (ROOT / "README.md").read_text()
    for module in modules & UNKNOWN_TO_ROSDEP.keys():
        assert UNKNOWN_TO_ROSDEP[module] in readme, f"README does not tell ROS users how to get {module}"


@pytest.mark.parametrize("extra", ["learning", "policy", "simulation"])
def test_an_extra_allows_what_is_pinned_and_names_nothing_else(extra):
    ranges = {}
    for text in metadata.requires("ompo_ros"):
        declared = Requirement(text)
        if (
            declared.marker
            and declared.marker.evaluate({"extra": extra})
            and not declared.marker.evaluate({"extra": ""})
        ):
            ranges[declared.name] = declared.specifier
    lines = (ROOT / "requirements" / f"{extra}.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {pin.name: next(iter(pin.specifier)).version for pin in pins if not pin.marker or pin.marker.evaluate()}
    assert set(pinned) >= set(ranges) - {"numpy", "PyYAML"}
    assert set(pinned) <= set(ranges)
    assert all(ranges[name].contains(version) for name, version in pinned.items())


def test_one_version_everywhere():
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    messages = ElementTree.parse(ROOT / "ompo_msgs" / "package.xml").getroot()
    newest = re.search(r"^(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.rst").read_text(), re.MULTILINE)
    versions = {ompo_ros.__version__, manifest.findtext("version"), messages.findtext("version"), newest and newest[1]}
    assert len(versions) == 1, versions
