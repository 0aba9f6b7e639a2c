"""Running the `ros2` command of this environment, whichever it is: ours or the genuine one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_BESIDE_PYTHON = Path(sys.prefix, "bin", "ros2")
ROS2 = str(_BESIDE_PYTHON) if _BESIDE_PYTHON.exists() else shutil.which("ros2") or "ros2"
IS_GENUINE = importlib.util.find_spec("ros2topic") is not None
TIMEOUT_S = 30.0


def isolated_environment(domain_id: int) -> dict[str, str]:
    """Keep a test's graph to itself."""
    return {**os.environ, "ROS_DOMAIN_ID": str(domain_id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}


def ros2(*words: str, env: dict[str, str] | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [ROS2, *words], env=env, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def start_ros2(*words: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, as a shell does."""
    return subprocess.Popen(
        [ROS2, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def ros2_together(*commands: Sequence[str], env: dict[str, str]) -> list[subprocess.CompletedProcess[str]]:
    """Run several commands at once, since each spends most of its time waiting."""
    started = [start_ros2(*words, env=env) for words in commands]
    outputs = [process.communicate(timeout=TIMEOUT_S) for process in started]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *output)
        for process, output in zip(started, outputs, strict=True)
    ]
