"""What a report says of the belief."""

from ompo_ros.reporting.belief_table import BELIEF, belief_section, truth_of
from ompo_ros.sim.distributions import Normal
from ompo_ros.sim.domain import Domain, Drawn
from ompo_ros.sim.domain_file import write_domain

BELIEVED = Domain(
    "belief", {"payload_mass": Drawn(Normal(0.9, 0.1)), "action_bias": Drawn(Normal((0.8,) * 7, (0.02,) * 7))}
)
SUMMARY = "After 500 target steps the next position is predicted to 7% of a step's motion."


def test_a_stand_ins_truth_stands_beside_the_belief(tmp_path):
    write_domain(BELIEVED, tmp_path / BELIEF, SUMMARY)
    lines = belief_section(tmp_path, {"target": "panda_gym", "target_domain": "creeping"})
    assert SUMMARY in lines
    assert "| | belief | truth |" in lines
    assert "| payload_mass | 0.90 ± 0.10 | 1.00 |" in lines
    truth = "0.80, 0.70, -0.60, 0.70, -0.80, 0.60, 0.10"
    assert f"| action_bias | {', '.join(['0.80'] * 7)} ± {', '.join(['0.02'] * 7)} | {truth} |" in lines


def test_of_a_real_arm_only_the_belief_is_shown(tmp_path):
    write_domain(BELIEVED, tmp_path / BELIEF, SUMMARY)
    lines = belief_section(tmp_path, {"target": "real", "target_domain": "creeping"})
    assert "| | belief |" in lines
    assert "| payload_mass | 0.90 ± 0.10 |" in lines


def test_without_a_readable_belief_the_report_is_silent(tmp_path):
    assert belief_section(tmp_path, {}) == []
    (tmp_path / BELIEF).write_text("parameters: {absent: 1}")
    assert belief_section(tmp_path, {}) == []


def test_a_parameter_that_drifts_has_no_true_value():
    truth = truth_of("drifting")
    assert truth["action_bias"] == ("drifts",)
    assert truth["action_gain"] == ("1.00",)
