"""The `ros2` command, over DDS, beside a real node."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import PATIENCE, ros2, started
from ros2cli.main import COMMANDS


@pytest.fixture
def helper(ros_domain):
    process = subprocess.Popen([sys.executable, Path(__file__).with_name("helper_node.py")])
    yield process
    process.terminate()
    process.wait(PATIENCE)


def said(*words):
    """What a command that succeeds writes."""
    code, output = ros2(*words)
    assert code == 0, output
    return output


def refused(*words):
    """What a command that fails writes."""
    code, output = ros2(*words)
    assert code == 1, output
    assert "Traceback" not in output
    return output


@pytest.mark.parametrize("words", [["bag"], ["bag", "play"], ["topic", "bw"]])
def test_what_is_not_here_is_answered_with_what_is(words):
    code, output = ros2(*words)
    assert code == 2
    assert f"'ros2 {' '.join(words[: 1 if words[0] == 'bag' else 2])}' is not here" in output
    assert "a small stand-in for the command of ROS 2" in output
    assert "ros2 topic echo | hz | info | list | pub" in output


@pytest.mark.parametrize("words", [(c, v) for c, verbs in COMMANDS.items() for v in verbs or ("",)])
def test_every_verb_shows_its_usage(words):
    assert f"usage: ros2 {' '.join(words)}".rstrip() in said(*filter(None, words), "-h")


def test_interfaces_are_shown_and_executables_run(demo):
    stamp = "\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n\tstring frame_id\n"
    fields = f"{stamp}Part[<=3] parts\n\tfloat64 mass\nint32 LIMIT=5\nfloat64[3] point\n---\nbool success\n"
    shown = f"# What a robot does.\n\nstd_msgs/Header header  # when and where\n{fields}"
    assert said("interface", "show", "demo/srv/Do") == shown
    assert said("interface", "show", "--no-comments", "demo/srv/Do") == f"std_msgs/Header header\n{fields}"
    assert '"arguments": ["--x", "1"]' in said("run", "demo", "teller", "--x", "1")
    assert "'demo' has:\n- teller" in refused("run", "demo", "absent")
    assert "Could not find the interface 'demo/msg/Absent'" in refused("interface", "show", "demo/msg/Absent")


def test_lists_and_infos_of_nodes_topics_and_services(helper):
    assert said("node", "list") == "/demo/helper\n"
    topics = said("topic", "list", "-t")
    assert "/demo/samples [std_msgs/msg/Float64MultiArray]\n" in topics
    assert "/demo/set_bool [std_srvs/srv/SetBool]\n" in said("service", "list", "-t")
    info = said("node", "info", "/demo/helper")
    assert info.startswith("/demo/helper\n  Subscribers:\n")
    assert "    /demo/latched: std_msgs/msg/String\n" in info.split("Publishers:")[1].split("Service Servers:")[0]
    assert "    /demo/set_bool: std_srvs/srv/SetBool\n" in info.split("Service Servers:")[1]
    counts = "Publisher count: 1\nSubscription count: 0\n"
    assert said("topic", "info", "/demo/latched") == f"Type: std_msgs/msg/String\n{counts}"
    verbose = said("topic", "info", "-v", "/demo/latched")
    assert "Node name: helper\nNode namespace: /demo\n" in verbose
    assert "Durability: TRANSIENT_LOCAL" in verbose
    assert "Unknown topic '/demo/absent'" in refused("topic", "info", "/demo/absent")
    assert "Nodes seen:\n  /demo/helper\n" in refused("node", "info", "/demo/absent")


def test_echo_matches_its_publisher_and_cuts_what_is_long(helper):
    assert said("topic", "echo", "--once", "/demo/latched") == "data: kept\n---\n"
    assert said("topic", "echo", "--once", "/demo/latched", "--field", "data") == "kept\n---\n"
    message = yaml.safe_load(said("topic", "echo", "--once", "/demo/samples").split("---")[0])
    assert list(message) == ["layout", "data"]
    assert message["data"] == [*map(float, range(128)), "..."]
    message = yaml.safe_load(said("topic", "echo", "--once", "-f", "/demo/samples").split("---")[0])
    assert message["data"] == [*map(float, range(200))]
    assert "Invalid field 'absent'" in refused("topic", "echo", "/demo/samples", "--field", "absent")
    output = refused("topic", "echo", "/demo/absent", "--spin-time", "0.1")
    assert "topic [/demo/absent] does not appear to be published yet" in output


def test_hz_reports_until_it_is_interrupted(helper):
    with started("topic", "hz", "/demo/samples") as command:
        command.wait_for("window: ")
        assert command.end(signal.SIGINT) == signal.SIGINT
    number = r"\d+\.\d{3}"
    report = rf"average rate: {number}\n\tmin: {number}s max: {number}s std dev: \d+\.\d{{5}}s window: [1-9]\d*\n"
    assert re.match(report, command.output)


GOAL = "{header: {stamp: now, frame_id: base}, point: {x: 0.55, y: 1, z: 1e-1}}"
POINT = ("/goal", "geometry_msgs/msg/PointStamped")


def test_pub_reaches_who_listens_with_the_values_and_the_time(ros_domain):
    with started("topic", "echo", "--qos-reliability", "reliable", *POINT) as echo:
        assert "publishing #1: geometry_msgs.msg.PointStamped(" in said("topic", "pub", "--once", *POINT, GOAL)
        assert said("topic", "pub", "-t", "3", "-r", "20", *POINT, GOAL).count("publishing #") == 3
        echo.wait_for("---\n", times=4)
    message = yaml.safe_load(echo.output.split("---\n")[0])
    assert message["point"] == {"x": 0.55, "y": 1.0, "z": 0.1}
    assert message["header"]["frame_id"] == "base"
    assert message["header"]["stamp"]["sec"] > 1e9
    with started("topic", "pub", "-r", "20", *POINT, "{header: auto}") as pub:
        pub.wait_for("publishing #3")
        assert pub.end(signal.SIGTERM) == signal.SIGTERM


@pytest.mark.parametrize(
    ("kind", "values", "complaint"),
    [
        ("std_msgs/msg/Absent", "{}", "The passed message type is invalid"),
        ("std_msgs/msg/Bool", "{", "The passed values are not YAML"),
        ("std_msgs/msg/Bool", "[1]", "Failed to populate field: the message needs a mapping"),
        ("std_msgs/msg/Bool", "{absent: 1}", "no field 'absent'; there are: data"),
        ("std_msgs/msg/Bool", "{data: 7}", "'data' field must be of type 'bool'"),
        ("std_msgs/msg/UInt8", "{data: 256}", "must be an unsigned integer in [0, 255]"),
        ("geometry_msgs/msg/PointStamped", "{point: {x: a}}", "could not convert string to float"),
    ],
)
def test_what_does_not_fit_a_message_is_refused(kind, values, complaint):
    assert complaint in refused("topic", "pub", "--once", "/x", kind, values)


def test_services_are_called_with_every_kind_of_field(helper):
    answer = said("service", "call", "/demo/set_bool", "std_srvs/srv/SetBool", "{data: true}")
    assert "response:\nstd_srvs.srv.SetBool_Response(success=True, message='got True')\n" in answer
    values = "{int8_values: [-128, 0, 127], float32_values: [1, 0.5, -2.0], string_values: [a, 7, ''],"
    values += " byte_values: [0, 1, 255], basic_types_values: [{}, {int16_value: -7}, {}]}"
    answer = said("service", "call", "/demo/repeat", "test_msgs/srv/Arrays", values).split("response:\n")[1]
    for part in ("[-128,    0,  127]", "[ 1. ,  0.5, -2. ]", "['a', '7', '']", r"b'\xff'", "int16_value=-7"):
        assert part in answer
    wrong_type = refused("service", "call", "/demo/set_bool", "std_srvs/srv/Trigger")
    assert "Service '/demo/set_bool' is of type std_srvs/srv/SetBool" in wrong_type


def test_parameters_are_listed_described_read_set_and_dumped(helper):
    listed = said("param", "list", "/demo/helper", "--param-type")
    assert "  control.gain (type: double)\n  count (type: integer)\n  enabled (type: boolean)\n" in listed
    assert said("param", "list").startswith("/demo/helper:\n  control.gain\n")
    constraints = "  Constraints:\n    Min value: 0.0\n    Max value: 5.0\n"
    described = f"Parameter name: control.gain\n  Type: double\n  Description: Of the loop.\n{constraints}"
    assert said("param", "describe", "/demo/helper", "control.gain") == described
    assert said("param", "get", "/demo/helper", "ratios") == "Double values are: [0.5, 1.5]\n"
    assert said("param", "set", "/demo/helper", "label", "green") == "Set parameter successful\n"
    assert said("param", "get", "demo/helper", "label", "--hide-type") == "green\n"
    negative = refused("param", "set", "/demo/helper", "count", "--", "-1")
    assert negative == "Setting parameter failed: count must not be negative\n"
    dumped = yaml.safe_load(said("param", "dump", "/demo/helper"))["/demo/helper"]["ros__parameters"]
    own = {name: dumped[name] for name in ("control", "count", "enabled", "label", "ratios")}
    expected = {"control": {"gain": 2.5}, "count": 1, "enabled": True, "label": "green", "ratios": [0.5, 1.5]}
    assert own == expected
    assert "Parameter not set: 'absent'" in refused("param", "get", "/demo/helper", "absent")
