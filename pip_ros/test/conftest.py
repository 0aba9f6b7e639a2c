"""A package `demo` of its own, in front of the installed ones."""

import sys

import pytest
from commands import write_launch_file

TELLING_NODE = f"""#!{sys.executable}
import json, sys
import rclpy
from rclpy.node import Node

rclpy.init()
node = Node("unnamed", automatically_declare_parameters_from_overrides=True)
parameters = node.get_parameters_by_prefix("")
own = ("use_sim_time", "start_type_description_service")
print("TOLD", json.dumps({{
    "name": node.get_fully_qualified_name(),
    "topic": node.resolve_topic_name("chatter"),
    "parameters": {{k: list(v.value) if hasattr(v.value, "tolist") else v.value
                    for k, v in parameters.items() if k not in own}},
    "arguments": sys.argv[1:],
}}), flush=True)
"""
DEFINITION = """# What a robot does.

std_msgs/Header header  # when and where
Part[<=3] parts
int32 LIMIT=5
float64[3] point
---
bool success
"""


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """The prefix with the package: an executable, two interfaces, a folder for launch files."""
    prefix = tmp_path / "prefix"
    index = prefix / "share/ament_index/resource_index/packages"
    for folder in ("lib/demo", "share/demo/launch", "share/demo/msg", "share/demo/srv"):
        (prefix / folder).mkdir(parents=True)
    index.mkdir(parents=True)
    (index / "demo").touch()
    (prefix / "share/demo/msg/Part.msg").write_text("# One of several.\nfloat64 mass  # kg\n")
    (prefix / "share/demo/srv/Do.srv").write_text(DEFINITION)
    (prefix / "lib/demo/teller").write_text(TELLING_NODE)
    (prefix / "lib/demo/teller").chmod(0o755)
    (prefix / "lib/demo/data.txt").write_text("no executable")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{sys.prefix}")
    return prefix


@pytest.fixture
def launch_file(tmp_path):
    return lambda entities, before="", name="test.launch.py": write_launch_file(tmp_path / name, entities, before)
