"""How a node's process starts: by its name, and without a traceback where it is stopped before that is done."""

import subprocess
import sys

import pytest

INTERRUPTED = """
import importlib, os, signal
from ompo_ros.nodes import __main__ as nodes
importlib.import_module = lambda name: os.kill(os.getpid(), signal.{number})
nodes.start("learner")
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_while_a_node_is_imported_ends_it_without_a_traceback(number):
    code = INTERRUPTED.format(number=number)
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
