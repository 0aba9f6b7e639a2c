"""One node of a name: a second one refuses to start, one that takes a dead node's place waits and starts."""

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE, wait_until

from ompo_ros.nodes.wire.absence import LEASE
from ompo_ros.nodes.wire.only_one import default_name
from ompo_ros.resources import resource_path

NODES = Path(__file__).parents[3] / "ompo_ros" / "nodes"
FILES = sorted(path for path in NODES.glob("*.py") if "def main()" in path.read_text())
SCRIPT = """
import gc
gc.disable()  # it may come late

from rclpy.node import Node
from std_msgs.msg import Empty
from ompo_ros.nodes.wire.process import run

class ThinNode(Node):
    def __init__(self):
        super().__init__("thin_node")
        self.create_publisher(Empty, "words", 1)
        print("made", flush=True)

run(ThinNode)
"""


@pytest.fixture
def start(ros_domain, monkeypatch):
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(resource_path("config/fastdds.xml")))
    processes = []

    def start_node(*arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-c", SCRIPT, "--ros-args", *arguments]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return processes[-1]

    yield start_node
    for process in processes:
        process.kill()
        process.communicate()


def started(process: subprocess.Popen) -> bool:
    return process.stdout.readline() == "made\n"


def test_a_second_node_of_the_same_name_refuses_before_it_is_made(start):
    first = start("-r", "__ns:=/ompo")
    assert started(first)
    elsewhere, second = start("-r", "__ns:=/other"), start("-r", "__ns:=/ompo")
    assert started(elsewhere)
    made, said = second.communicate(timeout=PATIENCE)
    assert (second.returncode, made) == (2, "")
    assert f"another node has the name /ompo/thin_node: stop it (a killed one is forgotten after {LEASE:g} s)" in said
    assert "Traceback" not in said
    assert first.poll() is None


def test_a_name_longer_than_an_address_of_the_kernel_is_kept_as_any_other(start):
    space = "/ompo" + "/a_long_namespace" * 8
    assert started(start("-r", f"__ns:={space}"))
    assert started(start("-r", f"__ns:={space}/another"))
    _, said = start("-r", f"__ns:={space}").communicate(timeout=PATIENCE)
    assert f"another node has the name {space}/thin_node: stop it" in said


def test_a_node_that_takes_a_killed_ones_place_waits_for_its_name_and_starts(start):
    first = start()
    assert started(first)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert started(start())


def test_once_it_is_made_the_graph_shows_it_and_its_topics_alone(start, probe):
    assert started(start())
    seen = lambda: (  # noqa: E731
        probe.node.get_node_names().count("thin_node"),
        "thin_node" in [info.node_name for info in probe.node.get_publishers_info_by_topic("/words")],
    )
    probe.spin_until(lambda: seen() == (1, True), hint=lambda: str(seen()))


def test_of_two_that_start_at_once_one_is_made(start):
    both = [start(), start()]
    wait_until(lambda: any(process.poll() is not None for process in both), "the end of one of two nodes")
    (refused,) = [process for process in both if process.poll() is not None]
    (made,) = [process for process in both if process is not refused]
    assert (refused.communicate()[0], refused.returncode) == ("", 2)
    assert started(made)


def test_a_node_that_does_not_discover_the_other_refuses_all_the_same(start, monkeypatch):
    """As on cores so busy that discovery takes longer than a node waits for it."""
    assert started(start())
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    made, said = start().communicate(timeout=PATIENCE)
    assert (made, "another node has the name /thin_node: stop it" in said) == ("", True)


def test_a_node_that_waits_for_a_name_ends_with_zero_when_asked_to(start):
    assert started(start())
    waiting = start()
    assert "waiting up to" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(PATIENCE) == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_node_has_the_name_its_class_stands_for(path):
    """The name is looked for before the node is made; a class that is called otherwise would look for another."""
    source = path.read_text()
    made = re.search(r"\brun\((\w+)", source[source.index("def main()") :])[1]
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == made)
    assert f'super().__init__("{default_name(made)}"' in ast.get_source_segment(source, body)
