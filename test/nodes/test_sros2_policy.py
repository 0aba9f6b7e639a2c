"""config/sros2/policy.xml lets the nodes say and hear what they say and hear on a real graph, and nothing else."""

import functools
import itertools
import re

import launch_pytest
import pytest
import yaml
from graphs import graph_of, node
from sros2 import CONFIG, POLICY, QUERIES, allowed, endpoints, profile_of

NODES = ("learner", "policy_server", "source_collector", "target_collector", "policy_controller", "run_manager")
NODES += ("robot_sim", "transition_monitor", "identifier", "recorder", "monitor")
MEANT = {  # words of the docs for nodes of this graph
    "collectors": {"source_collector", "target_collector"},
    "source_collectors": {"source_collector"},
    "robot": {"robot_sim"},
    "tracker": {"robot_sim"},
}


@launch_pytest.fixture
def graph(ros_domain, tmp_path):
    folders = {"learner": {"run_dir": str(tmp_path)}, "run_manager": {"run_dir": str(tmp_path)}}
    folders["recorder"] = {"run_dir": str(tmp_path)}
    folders["identifier"] = {"run_dir": str(tmp_path)}
    folders["policy_server"] = {"registry_dir": str(tmp_path / "policies")}
    push = {name: {"task": "push"} for name in ("target_collector", "policy_controller", "robot_sim", "monitor")}
    push["robot_sim"]["real_time_factor"] = 2.0
    return graph_of(*(node(name, **{**folders.get(name, {}), **push.get(name, {})}) for name in NODES))


def rules_of(name: str, kind: str, verb: str) -> set[str]:
    """What the policy allows a node; sources are numbered in a launch, here there is one."""
    profile = profile_of("source_collector_0" if name == "source_collector" else name)
    return {rule.replace("_collector_*", "_collector") for rule in allowed(profile, kind, verb)}


def is_used_here(rule: str) -> bool:
    """Whether a rule is no other driver's, no robot's elsewhere, and no general one."""
    of_others = ("/joint_trajectory", "/commands", "/target_joint", "franka/joint_states")
    return rule.startswith("/ompo/") and not rule.endswith(of_others)


def of_the_docs() -> dict[str, tuple[str, str]]:
    """Topics of the table in docs/architecture.md, by row, with the words for who says and who hears them."""
    text = (CONFIG.parent / "docs" / "architecture.md").read_text().split("## The graph")[1].split("###")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    return {cells[0]: tuple(cells[3].split("→")) for cells in rows if re.match(r"(the robot's )?`\w", cells[0])}


@pytest.mark.parametrize(("topics", "sides"), of_the_docs().items())
def test_the_docs_name_who_says_and_who_hears_a_topic(topics, sides):
    for verb, side in zip(("publish", "subscribe"), sides, strict=True):
        words = set(re.findall(r"[a-z_]+", side))
        said = words & set(NODES) | set().union(*(MEANT[word] for word in words & set(MEANT)))
        does = {
            name
            for name in NODES
            for topic in topics.split("`")[1::2]
            if f"/ompo/{topic}" in rules_of(name, "topics", verb)
        }
        assert said - {"recorder"} == does - {"recorder"}, "the recorder has a row of its own"


def test_the_docs_name_every_service():
    text = (CONFIG.parent / "docs" / "architecture.md").read_text().split("### Services")[1].split("###")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {f"/ompo/{name}" for row in rows for name in re.findall(r"`(.+?)`", row)}
    offered = set()
    for profile in POLICY.iter("profile"):
        offered |= allowed(profile, "services", "reply")
    generic = r".*/(\w*parameter\w*|get_type_description|_action/get_result|_action/cancel_goal)$"
    offered = {name.removesuffix("/_action/send_goal") for name in offered if not re.match(generic, name)}
    assert named == offered


@pytest.mark.launch(fixture=graph)
def test_the_policy_has_every_name_of_the_graph_and_no_more(probe):
    for name, (kind, verb) in itertools.product(NODES, QUERIES):
        rules = rules_of(name, kind, verb)
        used = functools.partial(endpoints, probe, name, kind, verb)
        unused = lambda rules=rules, used=used: set(filter(is_used_here, rules)) - used()  # noqa: E731
        probe.spin_until(lambda unused=unused: not unused(), hint=lambda unused=unused: str(unused()))
        assert used() <= rules, (name, kind, verb, used() - rules)


def test_arm_nodes_may_reach_every_drivers_topics_in_both_namespaces():
    for preset in sorted((CONFIG / "robots").glob("*.yaml")):
        for driver in yaml.safe_load(preset.read_text())["drivers"].values():
            for name in ("target_collector", "policy_controller"):
                for space in ("", "/ompo"):
                    assert f"{space}/{driver['command_topic']}" in allowed(profile_of(name), "topics", "publish")
                    state = driver.get("state_topic", "joint_states")
                    assert f"{space}/{state}" in allowed(profile_of(name), "topics", "subscribe")
