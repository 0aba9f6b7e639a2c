"""The package is what it says: it imports bare, is found by ROS, and declares what it uses."""

import ast
import os
import re
import subprocess
import sys
import venv
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_package_prefix, get_package_share_directory
from example_policies import make
from packaging.requirements import Requirement

import ompo_ros
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROOT = Path(__file__).parent.parent
NODES = sorted(p.stem for p in (ROOT / "ompo_ros" / "nodes").glob("*.py") if "def main()" in p.read_text())
# What rosdep and pip call a module, where the names differ.
ROSDEP_KEYS = {
    "catkin_pkg": "python3-catkin-pkg-modules",
    "hypothesis": "python3-hypothesis",
    "numpy": "python3-numpy",
    "packaging": "python3-packaging",
    "pytest": "python3-pytest",
    "yaml": "python3-yaml",
}
DISTRIBUTIONS = {"panda_gym": "panda-gym", "PIL": "pillow"}
NO_EXTRA = {"google", "mcap_ros2", "playwright"}  # with onnx; for tests
NO_EXTRA |= {"franka_sim", "metaworld"}  # in environments of their own


def test_imports_without_ros_and_without_torch():
    # -S hides every installed package, so that only the standard library and our own tree are left.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import ompo_ros; print(ompo_ros.__version__)"
    bare = [sys.executable, "-S", "-I", "-c"]
    assert subprocess.run([*bare, "import numpy"], capture_output=True).returncode != 0
    result = subprocess.run([*bare, code], capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip()) == (0, ompo_ros.__version__), result.stderr


RUN_A_POLICY = """
import importlib.util
import sys
from pathlib import Path

from ompo_ros.policy.artifact import policy_bytes
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

contract = Task("reach", "dense").on(load_robot("panda"))
runtime = PolicyRuntime(policy_bytes(Path(sys.argv[1])), contract)
numpy = sys.modules["numpy"]
action = runtime.act(numpy.zeros(contract.observation_size, numpy.float32))
foreign = [name for name in ("gymnasium", "mujoco", "rclpy", "torch") if importlib.util.find_spec(name)]
print(runtime.version, action.tobytes().hex(), foreign)
"""


def brought_by(extra: str) -> set[str]:
    """The distributions that `pip install ompo_ros[extra]` installs."""
    found, left = {("ompo_ros", extra)}, [("ompo_ros", extra)]
    while left:
        name, of_extra = left.pop()
        for requirement in map(Requirement, metadata.requires(name) or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": of_extra}):
                needed = {(requirement.name, wanted) for wanted in (requirement.extras or {""})} - found
                found |= needed
                left += needed
    return {name for name, _ in found}


def make_venv(folder: Path, distributions: set[str]) -> Path:
    """A virtual environment that holds nothing but these, as they are installed here; gives its interpreter."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    for name in distributions:
        for top in {file.parts[0] for file in metadata.files(name)} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(metadata.distribution(name).locate_file(top))
    return folder / "bin" / "python"


def test_the_policy_extra_alone_runs_an_onnx_policy(tmp_path):
    policy = make(3, Task("reach", "dense").on(load_robot("panda")))
    (tmp_path / "policy.onnx").write_bytes(policy.onnx)
    python = make_venv(tmp_path / "bare", brought_by("policy"))
    result = subprocess.run(
        [python, "-I", "-c", RUN_A_POLICY, tmp_path / "policy.onnx"], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    here = PolicyRuntime(policy, policy.manifest.contract).act(np.zeros(20, np.float32))
    assert result.stdout.split(maxsplit=2) == ["3", here.tobytes().hex(), "[]\n"]


DEPLOY_ON_A_REAL_ARM = """
import importlib.util
import sys

sys.modules |= dict.fromkeys(("gymnasium", "mujoco", "torch", "mcap"))  # as if they were not installed

from launch import LaunchContext
from ompo_ros.launching.arguments import ARGUMENTS

spec = importlib.util.spec_from_file_location("deploy", sys.argv[1])
deploy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(deploy)
deploy.generate_launch_description()
context = LaunchContext()
context.launch_configurations.update({name: argument.default for name, argument in ARGUMENTS.items()})
context.launch_configurations.update({"target": "real", "driver": "franka_ros2", "params_file": ""})
print(len(deploy.start(context)))
"""


def test_deploying_on_a_real_arm_needs_no_simulator():
    launch_file = ROOT / "launch" / "deploy.launch.py"
    result = subprocess.run([sys.executable, "-c", DEPLOY_ON_A_REAL_ARM, launch_file], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "3\n"), result.stderr  # a line, the driver's part, the controller


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
def test_every_import_is_declared_to_rosdep_or_to_pip(folder):
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    tags = {"depend", "exec_depend"} | ({"test_depend"} if folder == "test" else set())
    rosdep = {element.text for element in manifest if element.tag in tags}
    pip = {Requirement(text).name for text in metadata.requires("ompo_ros")}
    modules = imported_modules(ROOT / folder) - NO_EXTRA
    missing = {m for m in modules if ROSDEP_KEYS.get(m, m) not in rosdep and DISTRIBUTIONS.get(m, m) not in pip}
    assert not missing, f"neither package.xml nor an extra of setup.py declares {sorted(missing)}"


@pytest.mark.parametrize("extra", ["learning", "lerobot", "policy", "recording", "simulation", "view"])
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
