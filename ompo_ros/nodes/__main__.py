"""Starts one of the nodes; the imports of most take seconds, in which a Ctrl-C should end them without a traceback."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path


def start(node: str) -> None:
    """Import a node's module and run it; a signal before that ends the process, which has nothing to save yet."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    module = importlib.import_module(f"ompo_ros.nodes.{node}")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    module.main()


def start_by_name() -> None:
    """Start the node that the console script is named after."""
    start(Path(sys.argv[0]).name)


if __name__ == "__main__":
    start(sys.argv.pop(1))
