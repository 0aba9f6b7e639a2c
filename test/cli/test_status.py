"""`ompo status`: one line for each thing that a graph says of itself."""

from ompo_msgs.msg import LearnerStatus

from ompo_ros.cli.status import rows_of
from ompo_ros.nodes.wire.arm_reports import ArmReport
from ompo_ros.nodes.wire.graph_view import GraphView
from ompo_ros.policy.registry import ListedPolicy

FIGURES = {
    "actual_rate": "24.9",
    "target_rate": "25.0",
    "late_ticks": "1",
    "ticks": "500",
    "state_age_ms": "8.0",
    "policy_version": "3",
    "filter_calls": "400",
    "filtered: velocity limit": "30",
}
GOAL = {"goal": "0.600 0.000 0.150", "goal_outcome": "under way", "goals": "2", "attempts": "1", "successes": "1"}


def listed(version, channels, rate=None) -> ListedPolicy:
    return ListedPolicy(version, 1.0, channels, False, rate, 40 if rate is not None else 0, "0" * 64, "")


def test_a_run_is_told_by_its_nodes_learner_policies_and_arm():
    status = LearnerStatus(state=LearnerStatus.TRAINING, device="cpu", updates=2200, updates_per_second=104.6)
    status.target_steps, status.target_episodes, status.source_steps, status.behind = 220, 4, 6600, True
    policies = [listed(8, ("stable",), 0.975), listed(9, ("latest",))]
    arm = ArmReport("panda", "playing an episode", True, FIGURES)
    view = GraphView("/ompo", ["learner", "target_collector"], {"target_collector": arm}, status, policies)
    assert rows_of(view) == [
        ("nodes", "2 in /ompo: learner, target_collector"),
        ("learner", "training on cpu, 2200 updates at 105/s, catching up"),
        ("data", "220 target steps in 4 episodes, 6600 source steps"),
        ("policies", "2 kept, latest 9, stable 8 (98% of 40 succeed)"),
        ("arm", "target_collector on panda: playing an episode"),
        ("control", "24.9 of 25.0 Hz, 1 of 500 ticks late, joint states 8.0 ms old"),
        ("running", "policy 3"),
        ("filter", "400 commands checked; changed by velocity limit 30"),
    ]


def test_a_deployment_has_a_goal_and_a_held_arm_stands_out():
    arm = ArmReport("fr3", "no joint state has come yet", False, {**FIGURES, **GOAL, "policy_version": "0"})
    rows = dict(rows_of(GraphView("/ompo", ["policy_controller"], {"policy_controller": arm})))
    assert rows["arm"] == "policy_controller on fr3: HOLDING, no joint state has come yet"
    assert rows["running"] == "no policy"
    assert rows["goal"] == "0.600 0.000 0.150, under way; 2 sent, 1 of 1 reached"
