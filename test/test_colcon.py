"""The path of a ROS machine: colcon builds a fresh clone, and a run uses nothing but what colcon installed."""

import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from catkin_pkg.packages import find_packages
from launched import Launched
from waiting import wait_until

from ompo_ros.policy.registry import Registry

ROOT = Path(__file__).parent.parent
NODES = {"learner", "policy_server", "source_collector", "identifier", "recorder", "robot_sim"}
NODES |= {"target_collector", "run_manager"}
VERSION = "0.1.0.dev1"  # the clone's own, to tell it from the ompo_ros of .venv


def documented(command: str) -> list[str]:
    """The line of docs/install.md that begins with this, as a shell splits it."""
    page = (ROOT / "docs" / "install.md").read_text()
    return shlex.split(re.search(rf"^{command} .*$", page, re.MULTILINE)[0])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A workspace with a fresh clone in it, as docs/install.md makes it."""
    folder = tmp_path_factory.mktemp("workspace")
    source = folder / "src" / "ompo_ros"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    return folder


def test_the_documented_rosdep_line_finds_both_packages(workspace):
    line = documented("rosdep install")
    paths = line[line.index("--from-paths") + 1 : line.index("--ignore-src")]
    found = [package.name for path in paths for package in find_packages(str(workspace / path)).values()]
    assert sorted(found) == ["ompo_msgs", "ompo_ros"]


def build(workspace: Path) -> None:
    """The documented line, and what the ROS wheels need in addition."""
    colcon = workspace / "colcon"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", colcon]
    subprocess.run([*pip, "-r", ROOT / "requirements" / "colcon.txt"], check=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(colcon), os.environ.get("PYTHONPATH")])),
        "CMAKE_PREFIX_PATH": os.environ["AMENT_PREFIX_PATH"],
        "COLCON_HOME": str(workspace / "colcon_home"),
    }
    include = workspace / "src" / "ompo_ros" / "ompo_msgs" / "cmake" / "drop_missing_includes.cmake"
    arguments = [*documented("colcon build")[1:], "--cmake-args", f"-DCMAKE_PROJECT_INCLUDE={include}"]
    command = [sys.executable, "-m", "colcon", *arguments]
    built = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr


def sourced(setup: Path) -> dict[str, str]:
    """The environment after `source install/setup.bash`."""
    shown = subprocess.run(["bash", "-c", f"source {setup} && env -0"], capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in shown.stdout.split("\0") if line)


def short_run(settings: Path) -> str:
    """The package's own settings of a run, with fewer episodes, source steps and updates."""
    nodes = yaml.safe_load(settings.read_text())
    nodes["/**/learner"]["ros__parameters"].update(source_ratio=1.0, update_to_data=0.5)
    nodes["/**/run_manager"]["ros__parameters"].update(episodes_before=1, episodes_after=1)
    return yaml.safe_dump(nodes)


def files_of(pid: int) -> set[Path]:
    """Every file of ours that a node's process was started from, was given, or has loaded; none once it has ended."""
    process = Path("/proc") / str(pid)
    try:
        words = (process / "cmdline").read_text().split("\0")
        words += [
            word.partition("=")[2] for word in (process / "environ").read_text().split("\0") if "PROFILES" in word
        ]
        words += [line.split()[-1] for line in (process / "maps").read_text().splitlines()]
    except (FileNotFoundError, ProcessLookupError):
        return set()
    ours = re.compile(r"/.*(/lib[^/]*ompo_|/ompo_(ros|msgs)/)")
    return {Path(word) for word in words if ours.match(word)}


def files_of_nodes(run: Launched) -> dict[str, set[Path]]:
    """What each node used, looked at again and again until the run ended."""
    used: dict[str, set[Path]] = defaultdict(set)

    def ended() -> bool:
        for node, pid in re.findall(r"\[(\w+)-\d+\]: process started with pid \[(\d+)\]", run.output):
            used[node] |= files_of(int(pid))
        return run.process.poll() is not None

    wait_until(ended, "the end of the run", seconds=900, pause=0.2)
    return used


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_launched_from_the_install_space_uses_its_files_alone(workspace, tmp_path, monkeypatch):
    module = workspace / "src" / "ompo_ros" / "ompo_ros" / "__init__.py"
    module.write_text(re.sub('__version__ = ".*"', f'__version__ = "{VERSION}"', module.read_text()))
    build(workspace)
    install = workspace / "install"
    for name, value in sourced(install / "setup.bash").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    where = (
        "import ompo_msgs, ompo_ros.resources as r; print(ompo_msgs.__file__, r.__file__, r.resource_path('config'))"
    )
    for path in subprocess.run(["python3", "-c", where], capture_output=True, text=True, check=True).stdout.split():
        assert Path(path).is_relative_to(install)
    helped = subprocess.run(["ompo", "--help"], capture_output=True, text=True, check=True)
    assert "policy" in helped.stdout

    few_steps = tmp_path / "few_steps.yaml"
    few_steps.write_text(short_run(install / "ompo_ros" / "share" / "ompo_ros" / "config" / "adapt.yaml"))
    arguments = {"target": "mujoco", "real_time_factor": "0.0", "target_steps": "60", "params_file": few_steps}
    run = Launched(tmp_path, "adapt.launch.py", {**arguments, "run_dir": tmp_path / "run"})
    try:
        used = files_of_nodes(run)
    finally:
        run.clean_up()
    assert run.end() == 0, run.output
    assert used.keys() == NODES
    for node, files in used.items():
        assert install / "ompo_ros" / "lib" / "ompo_ros" / node in files
        assert [path for path in files if not path.is_relative_to(install)] == []
    loaded_messages = {node for node, files in used.items() if any(".so" in path.name for path in files)}
    assert loaded_messages == NODES - {"robot_sim"}, "a stand-in has a driver's messages alone"
    assert re.search(r"\| after \| \d+% of 1 episode", (tmp_path / "run" / "report.md").read_text())
    policies = Registry(tmp_path / "run" / "policies", read_only=True)
    assert policies.load(policies.active("latest")).manifest.software["ompo_ros"] == VERSION
