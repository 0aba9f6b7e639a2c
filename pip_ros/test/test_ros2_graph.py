"""The `ros2` verbs that look into a running graph, against a real node over DDS."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from domain_coordinator import domain_id
from ros2_command import IS_GENUINE, isolated_environment, ros2, ros2_together, start_ros2

DIRECT = ("--no-daemon", "--spin-time", "0.7")

# Fast DDS tells newcomers of a participant every 3 s only; the helper does it often enough for DIRECT.
PROFILE = """\
<?xml version="1.0" encoding="UTF-8" ?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="eager" is_default_profile="true"><rtps><builtin><discovery_config>
    <leaseAnnouncement><sec>0</sec><nanosec>100000000</nanosec></leaseAnnouncement>
  </discovery_config></builtin></rtps></participant>
</profiles>
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    """Give the environment of a graph that holds the helper node only."""
    with domain_id() as number:
        environment = isolated_environment(int(number))
        script = Path(__file__).with_name("ros2_helper_node.py")
        profile = tmp_path_factory.mktemp("dds") / "profile.xml"
        profile.write_text(PROFILE)
        helper = subprocess.Popen(
            [sys.executable, script],
            env={**environment, "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert helper.stdout.readline() == "ready\n"
            yield environment
        finally:
            helper.kill()
            helper.communicate()
            if IS_GENUINE:
                ros2("daemon", "stop", env=environment)


def lines(process):
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def interrupt(process, signum=signal.SIGINT):
    os.killpg(process.pid, signum)
    return process.communicate(timeout=10)


@pytest.fixture(scope="module")
def listings(env):
    """List everything, all at once."""
    commands = (
        ("node", "list"),
        ("node", "list", "-a"),
        ("topic", "list"),
        ("topic", "list", "-t"),
        ("topic", "list", "-c", "--include-hidden-topics"),
        ("service", "list"),
        ("service", "list", "-t"),
        ("param", "list", "--param-type", "--filter", "[^su]"),
    )
    processes = ros2_together(*((*words, "--no-daemon", "--spin-time", "2") for words in commands), env=env)
    return {" ".join(words): lines(process) for words, process in zip(commands, processes, strict=True)}


def test_node_list(listings):
    assert listings["node list"] == ["/demo/helper"]


def test_hidden_nodes_appear_when_all_are_asked_for(listings):
    assert any(name.startswith("/_ros2cli") for name in listings["node list -a"])


TOPICS = {
    "/demo/arrays": "test_msgs/msg/Arrays",
    "/demo/canceled": "std_msgs/msg/String",
    "/demo/chatter": "std_msgs/msg/String",
    "/demo/latched": "std_msgs/msg/String",
    "/demo/samples": "std_msgs/msg/Float64MultiArray",
    "/parameter_events": "rcl_interfaces/msg/ParameterEvent",
    "/rosout": "rcl_interfaces/msg/Log",
}


def test_topic_list(listings):
    assert listings["topic list"] == list(TOPICS)
    assert listings["topic list -t"] == [f"{name} [{kind}]" for name, kind in TOPICS.items()]


def test_topic_list_count_and_hidden_topics(listings):
    hidden = len(("feedback", "status"))
    assert listings["topic list -c --include-hidden-topics"] == [str(len(TOPICS) + hidden)]


def test_echo_prints_a_yaml_document(env):
    assert ros2("topic", "echo", "/demo/chatter", "--once", *DIRECT, env=env).stdout == "data: hello\n---\n"


def test_echo_matches_a_latched_publisher(env):
    assert ros2("topic", "echo", "/demo/latched", "--once", *DIRECT, env=env).stdout == "data: kept\n---\n"


def test_echo_one_field(env):
    process = ros2("topic", "echo", "/demo/chatter", "std_msgs/msg/String", "--once", "--field", "data", env=env)
    assert process.stdout == "hello\n---\n"


def test_echo_shortens_long_arrays(env):
    process = ros2("topic", "echo", "/demo/samples", "--once", *DIRECT, env=env)
    message = yaml.safe_load(process.stdout.split("---")[0])
    assert message["data"] == [float(i) for i in range(128)] + ["..."]
    assert list(message) == ["layout", "data"]


def test_echo_full_length(env):
    process = ros2("topic", "echo", "/demo/samples", "--once", "-f", "--csv", *DIRECT, env=env)
    assert process.stdout == "0," + ",".join(f"{float(i)}" for i in range(200)) + "\n"


def test_echo_without_arrays(env):
    process = ros2("topic", "echo", "/demo/samples", "--once", "--no-arr", *DIRECT, env=env)
    assert process.stdout == (
        "layout:\n  dim: '<sequence type: std_msgs/msg/MultiArrayDimension, length: 0>'\n  data_offset: 0\n"
        "data: '<sequence type: double, length: 200>'\n---\n"
    )


def test_echo_in_flow_style(env):
    process = ros2("topic", "echo", "/demo/samples", "--once", "--flow-style", "-l", "2", *DIRECT, env=env)
    assert process.stdout == "layout:\n  dim: []\n  data_offset: 0\ndata: [0.0, 1.0, '...']\n---\n"


def test_echo_every_field_type(env):
    process = ros2("topic", "echo", "/demo/arrays", "--once", *DIRECT, env=env)
    message = yaml.safe_load(process.stdout.split("---\n")[0])
    assert message["byte_values"] == ["\x01", "a", "ÿ"]
    assert message["string_values"] == ["é", "", "yes"]
    assert message["bool_values_default"] == [False, True, False]
    assert message["uint64_values"] == [0, 0, 0]
    assert message["float64_values_default"] == [3.1415, 0.0, -3.1415]
    assert message["basic_types_values"][2]["byte_value"] == "\0"
    assert "string_values:\n- é\n- ''\n- 'yes'\n" in process.stdout


def test_echo_keeps_only_what_the_filter_lets_through(env):
    words = ("topic", "echo", "/demo/chatter", "--filter", "m.data != 'hello'", "--timeout", "1", *DIRECT)
    assert ros2(*words, env=env).stdout == ""


def test_echo_of_a_missing_topic_fails(env):
    process = ros2("topic", "echo", "/demo/nothing", *DIRECT, env=env)
    assert process.returncode == 1
    assert "topic [/demo/nothing] does not appear to be published yet" in process.stdout + process.stderr
    assert "Could not determine the type for the passed topic" in process.stderr


def test_echo_of_an_unknown_type_fails(env):
    process = ros2("topic", "echo", "/demo/chatter", "std_msgs/msg/Nothing", env=env)
    assert process.returncode == 1
    assert "The passed message type is invalid" in process.stderr


def test_echo_of_an_unknown_field_fails(env):
    process = ros2("topic", "echo", "/demo/chatter", "--field", "nothing", "--once", *DIRECT, env=env)
    assert process.returncode == 1
    assert "Invalid field 'nothing'" in process.stderr


@pytest.mark.skipif(IS_GENUINE, reason="ros2cli shows a traceback")
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("/demo/chatter", "--filter", "m.data =="), 2, "'m.data ==' is no Python expression"),
        (("/demo/chatter", "--filter", "m.nothing"), 1, "Cannot apply the filter 'm.nothing'"),
        (("/demo bad",), 1, "topic name must not contain characters other than"),
    ],
)
def test_bad_input_is_explained(env, words, code, sentence):
    process = ros2("topic", "echo", *words, *DIRECT, env=env)
    assert process.returncode == code
    assert sentence in process.stderr
    assert "Traceback" not in process.stderr


def test_reader_of_the_output_may_leave(env):
    process = start_ros2("topic", "echo", "/demo/chatter", *DIRECT, env=env)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=10) == 1
    if not IS_GENUINE:
        assert process.stderr.read() == ""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_echo_ends_cleanly_on_a_signal(env, signum):
    if IS_GENUINE and signum == signal.SIGTERM:
        pytest.skip("ros2cli sometimes fails with an error of its own")
    process = start_ros2("topic", "echo", "/demo/chatter", *DIRECT, env=env)
    assert process.stdout.readline() == "data: hello\n"
    _, errors = interrupt(process, signum)
    assert (process.returncode, errors) == (signum, "")


def test_hz(env):
    process = start_ros2("topic", "hz", "/demo/chatter", env=env)
    report = process.stdout.readline() + process.stdout.readline()
    interrupt(process)
    number = r"\d+\.\d{3}"
    assert re.fullmatch(
        rf"average rate: {number}\n\tmin: {number}s max: {number}s std dev: \d+\.\d{{5}}s window: [1-9]\d*\n", report
    )
    assert process.returncode == signal.SIGINT


SERVICES = {
    "/demo/repeat": "test_msgs/srv/Arrays",
    "/demo/set_bool": "std_srvs/srv/SetBool",
    "/demo/trigger": "std_srvs/srv/Trigger",
}


def test_service_list(listings):
    names = listings["service list"]
    assert set(SERVICES) <= set(names)
    assert "/demo/helper/get_parameters" in names
    assert not [name for name in names if "/_" in name]
    assert {f"{name} [{kind}]" for name, kind in SERVICES.items()} <= set(listings["service list -t"])


def test_service_call(env):
    process = ros2("service", "call", "/demo/trigger", "std_srvs/srv/Trigger", "{}", env=env)
    assert process.returncode == 0
    assert process.stdout.endswith(
        "requester: making request: std_srvs.srv.Trigger_Request()\n\n"
        "response:\nstd_srvs.srv.Trigger_Response(success=True, message='done')\n\n"
    )


def test_service_call_with_values_from_stdin(env):
    process = ros2("service", "call", "/demo/set_bool", "std_srvs/SetBool", "--stdin", env=env, stdin="data: true")
    assert "response:\nstd_srvs.srv.SetBool_Response(success=True, message='got True')\n" in process.stdout


def test_service_call_fills_every_kind_of_field(env):
    values = (
        "{bool_values: [true, false, true], int8_values: [-128, 0, 127], uint64_values: [1, 2, 18446744073709551615],"
        " float32_values: [1, 0.5, -2.0], string_values: [a, é, ''], basic_types_values: [{}, {int16_value: -7}, {}]}"
    )
    process = ros2("service", "call", "/demo/repeat", "test_msgs/srv/Arrays", values, env=env)
    response = process.stdout.split("response:\n")[1]
    for part in (
        "bool_values=[True, False, True]",
        "int8_values=array([-128,    0,  127], dtype=int8)",
        "uint64_values=array([                   1,                    2, 18446744073709551615],\n      dtype=uint64)",
        "float32_values=array([ 1. ,  0.5, -2. ], dtype=float32)",
        "string_values=['a', 'é', '']",
        "int16_value=-7",
    ):
        assert part in response


def assert_refused(env, sentences):
    """Check that each command, given by its words, fails with its sentence."""
    processes = ros2_together(*sentences, env=env)
    for process, sentence in zip(processes, sentences.values(), strict=True):
        assert process.returncode == 1
        assert sentence in process.stderr
        assert "Traceback" not in process.stderr


def test_service_call_refuses_wrong_values_and_types(env):
    call = ("service", "call", "/demo/set_bool")
    assert_refused(
        env,
        {
            (*call, "std_srvs/srv/SetBool", "{nothing: 1}"): "Failed to populate field",
            (*call, "std_srvs/srv/SetBool", "[1]"): "Failed to populate field",
            (*call, "std_srvs/srv/Nothing"): "The passed service type is invalid",
            (*call, "nothing/srv/SetBool"): "The passed service type is invalid",
            (*call, "std_msgs/msg/String"): "The passed type is not",
        },
    )


@pytest.mark.skipif(IS_GENUINE, reason="ros2cli takes them, or names no field")
def test_service_call_names_the_field_that_is_wrong(env):
    sentences = {
        "{bool_values: [true, [], 0]}": "'bool_values[1]' needs a value of type boolean, got []",
        "{int8_values: [1, 2]}": "'int8_values' needs 3 elements, got 2",
        "{uint8_values: [0, 1, 256]}": "'uint8_values[2]' is 256, outside 0 to 255 of uint8",
        "{int64_values: [0, 0.5, 0]}": "'int64_values[1]' needs a value of type int64, got 0.5",
        "{float64_values: [x, 0, 0]}": "'float64_values[0]' needs a value of type double, got 'x'",
        "{basic_types_values: [{}, {nothing: 1}, {}]}": "no field 'basic_types_values[1].nothing'; there are: ",
    }
    call = ("service", "call", "/demo/repeat", "test_msgs/srv/Arrays")
    assert_refused(env, {(*call, values): sentence for values, sentence in sentences.items()})


@pytest.mark.skipif(IS_GENUINE, reason="ros2cli waits without end")
def test_what_does_not_exist_is_named(env):
    call, send = ("service", "call"), ("action", "send_goal")
    assert_refused(
        env,
        {
            (*call, "/demo/nothing", "std_srvs/srv/Trigger"): "Service '/demo/nothing' does not exist",
            (*call, "/demo/trigger", "std_srvs/srv/SetBool"): "Service '/demo/trigger' is of type std_srvs/srv/Trigger",
            (*send, "/demo/nothing", "test_msgs/action/Fibonacci"): "Action '/demo/nothing' does not exist",
        },
    )


def test_action_list(env):
    assert lines(ros2("action", "list", "-t", env=env)) == ["/demo/fibonacci [test_msgs/action/Fibonacci]"]


def test_send_goal_with_feedback(env):
    words = ("action", "send_goal", "/demo/fibonacci", "test_msgs/action/Fibonacci", "{order: 3}", "--feedback")
    process = ros2(*words, env=env)
    assert process.returncode == 0
    assert re.fullmatch(
        "Waiting for an action server to become available...\n"
        "Sending goal:\n     order: 3\n\n"
        "Goal accepted with ID: [0-9a-f]{32}\n\n"
        "(Feedback:\n    sequence:\n- 0\n- 1\n- 1\n(- 2\n)?\n)+"
        "Result:\n    sequence:\n- 0\n- 1\n- 1\n- 2\n\n"
        "Goal finished with status: SUCCEEDED\n",
        process.stdout,
    )


def test_rejected_goal(env):
    words = ("action", "send_goal", "/demo/fibonacci", "test_msgs/action/Fibonacci", "{order: -1}")
    assert lines(ros2(*words, env=env))[-1] == "Goal was rejected."


@pytest.mark.skipif(IS_GENUINE, reason="ros2cli loses its connection on the signal, before it can cancel")
def test_interrupted_goal_is_canceled(env):
    words = ("action", "send_goal", "/demo/fibonacci", "test_msgs/action/Fibonacci", "{order: 100000}", "-f")
    process = start_ros2(*words, env=env)
    while "Feedback" not in process.stdout.readline():
        assert process.poll() is None
    output, errors = interrupt(process)
    assert process.returncode == signal.SIGINT, errors
    assert "Canceling goal...\n" in output
    assert output.endswith("Goal canceled.\n")
    canceled = ros2("topic", "echo", "/demo/canceled", "--once", "--timeout", "5", *DIRECT, env=env)
    assert canceled.stdout == "data: canceled\n---\n"


PARAMETERS = {
    "count": ("integer", "Integer value is: 1"),
    "enabled": ("boolean", "Boolean value is: True"),
    "gain": ("double", "Double value is: 2.5"),
    "ids": ("integer array", "Integer values are: [1, 2]"),
    "label": ("string", "String value is: blue"),
    "ratios": ("double array", "Double values are: [0.5, 1.5]"),
}


def test_param_list_of_one_node(env):
    names = lines(ros2("param", "list", "/demo/helper", *DIRECT, env=env))
    assert set(names) >= {f"  {name}" for name in PARAMETERS}
    assert names == sorted(names)


def test_param_list_of_all_nodes_with_types(listings):
    expected = ["/demo/helper:", *(f"  {name} (type: {kind})" for name, (kind, _) in PARAMETERS.items())]
    assert listings["param list --param-type --filter [^su]"] == expected


def test_param_describe(env):
    told = lines(ros2("param", "describe", "/demo/helper", "gain", *DIRECT, env=env))
    assert told == ["Parameter name: gain", "  Type: double", "  Constraints:"]


def test_param_get(env):
    processes = ros2_together(*(("param", "get", "/demo/helper", name, *DIRECT) for name in PARAMETERS), env=env)
    assert [lines(process) for process in processes] == [[text] for _, text in PARAMETERS.values()]


def test_param_set(env):
    done = ros2("param", "set", "/demo/helper", "label", "green", *DIRECT, env=env)
    assert lines(done) == ["Set parameter successful"]
    assert lines(ros2("param", "get", "demo/helper", "label", "--hide-type", *DIRECT, env=env)) == ["green"]


def test_refused_param_set_says_why(env):
    process = ros2("param", "set", "/demo/helper", "count", *DIRECT, "--", "-1", env=env)
    assert process.stderr == "Setting parameter failed: count must not be negative\n"
    assert process.returncode == (0 if IS_GENUINE else 1)


def test_missing_parameter_and_node_are_named(env):
    parameter = ros2("param", "get", "/demo/helper", "nothing", *DIRECT, env=env)
    assert (parameter.returncode, parameter.stderr[:17]) == (1, "Parameter not set")
    node = ros2("param", "get", "/demo/nobody", "count", "--timeout", "1", *DIRECT, env=env)
    assert (node.returncode, node.stderr[:14]) == (1, "Node not found")
