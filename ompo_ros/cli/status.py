"""`ompo status`: what a running graph does, in about ten lines.

Exit codes: 0 done, 2 wrong usage, 3 no node answers.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ompo_ros.cli.exits import DONE
from ompo_ros.cli.tables import print_table
from ompo_ros.policy.registry import ListedPolicy
from ompo_ros.policy.registry_state import CHANNELS
from ompo_ros.words import FILTERED

if TYPE_CHECKING:  # there may be no ROS 2 here
    from ompo_ros.nodes.wire.arm_reports import ArmReport
    from ompo_ros.nodes.wire.graph_view import GraphView

Row = tuple[str, str]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the `ompo` command."""
    status = commands.add_parser("status", help="show what a running graph does")
    status.add_argument("--namespace", default="/ompo", help="of the nodes (default: /ompo)")
    status.set_defaults(run=_status)


def _status(arguments: argparse.Namespace) -> int:
    try:
        from ompo_ros.nodes.wire.graph_view import Observer
    except ImportError as error:
        raise ConnectionError(f"no ROS 2 here to look at a graph ({error})") from error
    print_table(rows_of(Observer(arguments.namespace).look()))
    return DONE


def rows_of(view: GraphView) -> list[Row]:
    """A name and a text for each thing that is known."""
    rows = [("nodes", f"{len(view.nodes)} in {view.namespace}: {', '.join(view.nodes)}"), *_learner(view)]
    if view.policies is not None:
        rows.append(("policies", _policies(view.policies)))
    for name, arm in view.arms.items():
        rows += _arm(name, arm)
    return rows


def _learner(view: GraphView) -> list[Row]:
    status = view.learner
    if status is None:
        return []
    pace = f"{status.updates} updates at {status.updates_per_second:.0f}/s"
    rows = [
        ("learner", f"{view.learner_state} on {status.device}, {pace}{', catching up' if status.behind else ''}"),
        (
            "data",
            f"{status.target_steps} target steps in {status.target_episodes} episodes, "
            f"{status.source_steps} source steps",
        ),
    ]
    if status.lost_batches or status.refused_messages:
        rows.append(("lost", f"{status.lost_batches} batches lost, {status.refused_messages} messages refused"))
    return rows


def _policies(policies: list[ListedPolicy]) -> str:
    by_channel = {channel: policy for policy in policies for channel in policy.channels}
    texts = [f"{channel} {_policy(by_channel.get(channel))}" for channel in CHANNELS]
    return f"{len(policies)} kept, {', '.join(texts)}"


def _policy(policy: ListedPolicy | None) -> str:
    if policy is None:
        return "none"
    proven = "" if policy.success_rate is None else f" ({policy.success_rate:.0%} of {policy.episodes} succeed)"
    return f"{policy.version}{proven}"


def _arm(name: str, arm: ArmReport) -> list[Row]:
    figures = arm.figures
    rate = f"{figures['actual_rate']} of {figures['target_rate']} Hz"
    late = f"{figures['late_ticks']} of {figures['ticks']} ticks late"
    changed = [f"{key.removeprefix(FILTERED)} {value}" for key, value in figures.items() if key.startswith(FILTERED)]
    rows = [
        ("arm", f"{name} on {arm.robot}: {'' if arm.is_well else 'HOLDING, '}{arm.message}"),
        ("control", f"{rate}, {late}, joint states {figures['state_age_ms']} ms old"),
        ("running", f"policy {figures['policy_version']}" if figures["policy_version"] != "0" else "no policy"),
        ("filter", f"{figures['filter_calls']} commands checked; changed by {', '.join(changed) or 'nothing'}"),
    ]
    if "goal" in figures:
        reached = f"{figures['successes']} of {figures['attempts']} reached"
        rows.append(("goal", f"{figures['goal']}, {figures['goal_outcome']}; {figures['goals']} sent, {reached}"))
    return rows
