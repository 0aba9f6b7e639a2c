"""The `ros2` verbs that need no graph: interfaces, packages and their executables."""

import os
import re
import signal
import stat
from pathlib import Path

import pytest
from ament_index_python import get_package_prefix
from ros2_command import IS_GENUINE, ros2, start_ros2

DEFINITION = """\
# What a robot is told.

std_msgs/Header header  # when and where
Part[<=3] parts
string<=10 name "a b"
int32 LIMIT=5
float64[3] point
---
bool success
"""

QUOTED = """\
string text "a # b"  # said
"""

PART = """\
# One of several.
float64 mass  # kg

"""

GREET = """\
#!/bin/sh
echo "greet $*"
exit 3
"""

WAIT = """\
#!/bin/sh
trap 'exit 7' INT
sleep 0.5  # ros2cli is ready for the signal only some time after it has started us
echo waiting
while true; do sleep 0.1; done
"""


def write_executable(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    """Install the package `demo_pkg` into an environment, before all others."""
    prefix = tmp_path_factory.mktemp("prefix")
    index = prefix / "share" / "ament_index" / "resource_index"
    for resource, content in (
        ("packages", ""),
        ("rosidl_interfaces", "msg/Part.msg\nmsg/Quoted.msg\nsrv/Tell.srv\nsrv/Tell.idl\n"),
    ):
        (index / resource).mkdir(parents=True)
        (index / resource / "demo_pkg").write_text(content)
    for path, content in (("srv/Tell.srv", DEFINITION), ("msg/Part.msg", PART), ("msg/Quoted.msg", QUOTED)):
        file = prefix / "share" / "demo_pkg" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    write_executable(prefix / "lib" / "demo_pkg" / "greet", GREET)
    write_executable(prefix / "lib" / "demo_pkg" / "wait", WAIT)
    (prefix / "lib" / "demo_pkg" / "data.txt").write_text("no executable")
    return {**os.environ, "AMENT_PREFIX_PATH": f"{prefix}:{get_package_prefix('std_msgs')}"}


def prefix_of(env):
    return Path(env["AMENT_PREFIX_PATH"].split(":")[0])


def shown(*words, env):
    text = ros2("interface", "show", *words, env=env).stdout
    # ros2cli leaves the sign of a comment that it cuts off.
    return re.sub(" *#$", "", text, flags=re.MULTILINE) if IS_GENUINE else text


STAMP = "\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n\tstring frame_id\n"


def test_interface_show_writes_nested_types_out(env):
    assert shown("demo_pkg/srv/Tell", env=env) == (
        "# What a robot is told.\n\n"
        f"std_msgs/Header header  # when and where\n{STAMP}"
        "Part[<=3] parts\n\tfloat64 mass\n"
        'string<=10 name "a b"\nint32 LIMIT=5\nfloat64[3] point\n---\nbool success\n'
    )


def test_interface_show_without_comments(env):
    assert shown("--no-comments", "demo_pkg/srv/Tell", env=env) == (
        f"std_msgs/Header header\n{STAMP}"
        "Part[<=3] parts\n\tfloat64 mass\n"
        'string<=10 name "a b"\nint32 LIMIT=5\nfloat64[3] point\n---\nbool success\n'
    )


def test_interface_show_with_all_comments(env):
    text = shown("--all-comments", "demo_pkg/srv/Tell", env=env)
    assert "Part[<=3] parts\n\t# One of several.\n\tfloat64 mass  # kg\n\n" in text


@pytest.mark.skipif(IS_GENUINE, reason="ros2cli cuts the default value at the sign inside it")
def test_interface_show_tells_a_quoted_sign_from_a_comment(env):
    assert shown("--no-comments", "demo_pkg/msg/Quoted", env=env) == 'string text "a # b"\n'


@pytest.mark.parametrize("name", ["demo_pkg/msg/Nothing", "nothing/msg/Part", "Part"])
def test_interface_show_of_an_unknown_type_fails(env, name):
    process = ros2("interface", "show", name, env=env)
    assert process.returncode == 1
    assert process.stdout == ""
    assert name.split("/")[0] in process.stderr


def test_interface_list(env):
    listing = ros2("interface", "list", env=env).stdout
    messages, rest = listing.split("Services:\n")
    services, actions = rest.split("Actions:\n")
    assert messages.startswith("Messages:\n")
    assert "    demo_pkg/msg/Part\n" in messages
    assert "    demo_pkg/srv/Tell\n" in services
    assert "    test_msgs/action/Fibonacci\n" in actions


def test_interface_package(env):
    assert set(ros2("interface", "package", "demo_pkg", env=env).stdout.splitlines()) == {
        "demo_pkg/msg/Part",
        "demo_pkg/msg/Quoted",
        "demo_pkg/srv/Tell",
    }
    assert ros2("interface", "package", "demo_pkg", "--only-srvs", env=env).stdout == "demo_pkg/srv/Tell\n"


def test_pkg_verbs(env):
    prefix = prefix_of(env)
    assert ros2("pkg", "prefix", "demo_pkg", env=env).stdout == f"{prefix}\n"
    assert ros2("pkg", "prefix", "--share", "demo_pkg", env=env).stdout == f"{prefix}/share/demo_pkg\n"
    assert {"demo_pkg", "std_msgs"} <= set(ros2("pkg", "list", env=env).stdout.splitlines())
    assert ros2("pkg", "executables", "demo_pkg", env=env).stdout == "demo_pkg greet\ndemo_pkg wait\n"


def test_run_passes_arguments_and_the_exit_code(env):
    process = ros2("run", "demo_pkg", "greet", "--ros-args", "-p", "x:=1", env=env)
    assert process.returncode == 3
    assert process.stdout.startswith("greet --ros-args -p x:=1\n")


def test_run_with_a_prefix(env):
    process = ros2("run", "--prefix", "echo 'before it'", "demo_pkg", "greet", "after", env=env)
    assert process.stdout == f"before it {prefix_of(env)}/lib/demo_pkg/greet after\n"


def test_interrupted_run_gives_the_executable_the_signal(env):
    process = start_ros2("run", "demo_pkg", "wait", env=env)
    assert process.stdout.readline() == "waiting\n"
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 7


def test_run_names_the_executables_there_are(env):
    process = ros2("run", "demo_pkg", "nothing", env=env)
    assert process.returncode == 1
    assert process.stderr.startswith("No executable found")
    if not IS_GENUINE:
        assert process.stderr.endswith("It has:\n- greet\n- wait\n")


def test_unknown_package_fails(env):
    for words in (("run", "nothing", "greet"), ("pkg", "executables", "nothing")):
        process = ros2(*words, env=env)
        assert process.returncode == 1
        assert "Package 'nothing' not found" in process.stderr


def test_wrong_usage(env):
    assert ros2("topic", "nothing", env=env).returncode == 2
    assert ros2("topic", "echo", env=env).returncode == 2
    assert ros2(env=env).returncode == 0
