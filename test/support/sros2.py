"""config/sros2/policy.xml, and what a node of a real graph says and hears, by the same names."""

import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatch
from pathlib import Path

from probe import Probe

CONFIG = Path(__file__).parents[2] / "config"
POLICY = ElementTree.parse(CONFIG / "sros2" / "policy.xml").getroot()
QUERIES = {
    ("topics", "publish"): "get_publisher_names_and_types_by_node",
    ("topics", "subscribe"): "get_subscriber_names_and_types_by_node",
    ("services", "reply"): "get_service_names_and_types_by_node",
    ("services", "request"): "get_client_names_and_types_by_node",
}


def allowed(profile: ElementTree.Element, kind: str, verb: str) -> set[str]:
    """Full names that a profile allows; an action stands for the services and topics it is made of."""
    space, name = profile.get("ns").rstrip("/"), profile.get("node")
    lists = [(group, "") for group in profile.findall(kind) if group.get(verb) == "ALLOW"]
    action_verb = {"reply": "execute", "publish": "execute", "request": "call", "subscribe": "call"}[verb]
    parts = ("feedback", "status") if kind == "topics" else ("cancel_goal", "get_result", "send_goal")
    for group in profile.findall("actions"):
        if group.get(action_verb) == "ALLOW":
            lists += [(group, f"/_action/{part}") for part in parts]
    names = set()
    for group, suffix in lists:
        for entry in group:
            full = entry.text if entry.text.startswith("/") else f"{space}/{entry.text}"
            names.add(full.replace(f"{space}/~", f"{space}/{name}") + suffix)
    return names


def profile_of(name: str) -> ElementTree.Element:
    return next(p for p in POLICY.iter("profile") if p.get("ns") == "/ompo" and fnmatch(name, p.get("node")))


def endpoints(probe: Probe, name: str, kind: str, verb: str) -> set[str]:
    """Full names that a node of the graph uses now."""
    if (name, "/ompo") not in probe.node.get_node_names_and_namespaces():
        return set()
    return {endpoint for endpoint, _ in getattr(probe.node, QUERIES[kind, verb])(name, "/ompo")}
