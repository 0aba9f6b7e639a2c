"""Who imports whom: the table in docs/architecture.md is true of every module."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ompo_ros"
TOP = "ompo_ros"
ROWS = re.compile(r"^\| `([a-z_/]+)/` \| [^|]+ \|([^|]*)\|([^|]*)\|$", re.MULTILINE)
ROS = re.compile(r"rclpy|builtin_interfaces|std_srvs|rcl_interfaces|ament_index_python|launch|launch_ros|\w+_msgs")
PART_OF = {"google": "onnx"}


def declared():
    """Rooms by name: which of ours they import, and what else they need."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    rows = {}
    for room, ours, others in ROWS.findall(text.split("## Rooms")[1].split("## ")[0]):
        rows[room.removeprefix("ompo_ros/") if room != TOP else TOP] = [
            set(re.findall(r"[\w/-]+", cell)) for cell in (ours, others)
        ]
    return rows


ROOMS = declared()


def room_of(module):
    """The innermost room that a module's dotted name lies in."""
    path = "/".join(module.split(".")[1:])
    inside = [room for room in ROOMS if path == room or path.startswith(room + "/")]
    return max(inside, key=len, default=TOP)


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute here"
            yield node.module
            if node.module == TOP or node.module.startswith(TOP + "."):  # a module may be imported from its room
                yield from (f"{node.module}.{alias.name}" for alias in node.names if is_module(node.module, alias.name))


def is_module(package, name):
    return (ROOT / package.replace(".", "/") / f"{name}.py").exists()


def found():
    rows = {room: [set(), set()] for room in ROOMS}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        ours, others = rows[room_of(module)]
        for name in imports(path):
            first = name.split(".")[0]
            if first == TOP:
                if name != TOP and room_of(name) != room_of(module):
                    ours.add(room_of(name))
            elif first not in sys.stdlib_module_names:
                others.add("ROS" if ROS.fullmatch(first) else PART_OF.get(first, first))
    return rows


FOUND = found()


def test_every_folder_is_a_room_of_the_table():
    folders = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")} - {"."}
    assert folders == set(ROOMS) - {TOP}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_the_table_says(room):
    assert FOUND[room] == ROOMS[room]


def test_no_two_rooms_import_each_other():
    circles = [(a, b) for a in FOUND for b in FOUND if a < b and b in FOUND[a][0] and a in FOUND[b][0]]
    assert [pair for pair in circles if TOP not in pair] == []
