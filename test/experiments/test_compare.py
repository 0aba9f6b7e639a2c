"""A comparison's rows stay, are added to, and are summed up as told."""

import dataclasses
import functools
import math
import multiprocessing
import os
import resource
import signal
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until

from ompo_ros.experiments.compare import Job, compare, gap_of, missing, play, report
from ompo_ros.experiments.comparison import (
    ENOUGH,
    Point,
    append,
    by_steps,
    evaluated_steps,
    fell,
    from_the_shipped_policy,
    interquartile_mean,
    interval,
    read,
    runs,
    shared,
    steps_to_good,
    student_interval,
    success_at,
)
from ompo_ros.experiments.comparison_tables import methods_table, parts_table, shared_table
from ompo_ros.experiments.methods import Protocol
from ompo_ros.files import InUse, lock
from ompo_ros.sim.gaps import Gap

PROTOCOL = Protocol(1.0, 1.0, 100, points=(50, 100), reported=(50, 100), episodes=1, fewer_episodes=1)


def point(steps, success, method="sac", seed=0, gap="mujoco:creeping", **replaced):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Point)), 0)
    fields |= {"gap": gap, "method": method, "seed": seed, "target_steps": steps, "success": success, "held": ""}
    return Point(**{**fields, "episodes": 50, "prediction_error": math.nan, **replaced})


def test_rows_are_read_as_they_were_written_and_a_cut_one_is_left_out(tmp_path):
    path = tmp_path / "rows.csv"
    first, second = [point(100, 0.5, held="no way, home"), point(250, 1.0)], [point(100, 0.25, seed=1)]
    append(path, first)
    with path.open("a") as file:
        file.write("mujoco:creeping,sac,2,10")  # power was lost
    append(path, second)
    found = read(path)
    assert [each.run for each in found] == [each.run for each in first + second]
    assert (found[0].held, found[2].success) == ("no way, home", 0.25)
    assert math.isnan(found[0].prediction_error)


def test_only_runs_that_are_missing_are_made(tmp_path):
    path = tmp_path / "rows.csv"
    jobs = [Job(gap_of("mujoco:creeping"), "sac", seed, PROTOCOL) for seed in range(3)]
    append(path, [point(100, 1.0, seed=1, update_to_data=1.0, source_ratio=1.0)])
    assert [job.seed for job in missing(jobs, path)] == [0, 2]


def run_or_die(path, job):
    """Seed 1 is killed; seed 0 ends when the rows of seed 2, asked for after it, are in the file."""
    if job.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if job.seed == 0:
        wait_until(lambda: (str(job.gap), "sac", 2) in runs(read(path)), "rows of a later run", 60.0)
    return [point(100, 1.0, seed=job.seed, update_to_data=1.0, source_ratio=1.0)]


def test_rows_are_kept_as_soon_as_they_come_and_a_killed_run_costs_no_other(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    jobs = [Job(gap_of("mujoco:creeping"), "sac", seed, PROTOCOL) for seed in range(3)]
    assert compare([*jobs, jobs[0]], path, 2, functools.partial(run_or_die, path)) == 1
    assert [each.seed for each in read(path)] == [2, 0]
    assert "sac seed 1 failed: its process was killed" in capsys.readouterr().err
    assert [job.seed for job in missing(jobs, path)] == [1]


def wait_for_ever(note, job):
    note.write_text(str(os.getpid()))
    signal.pause()


def is_alive(pid):
    """Whether a process runs; one that has ended but is not collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_runs_of_a_killed_comparison_end_with_it(tmp_path):
    note, job = tmp_path / "pid", Job(gap_of("mujoco:creeping"), "sac", 0, PROTOCOL)
    arguments = ([job], tmp_path / "rows.csv", 1, functools.partial(wait_for_ever, note))
    comparison = multiprocessing.get_context("spawn").Process(target=compare, args=arguments)
    comparison.start()
    wait_until(lambda: note.exists() and note.read_text(), "a run that has begun")
    comparison.kill()
    comparison.join()
    wait_until(lambda: not is_alive(int(note.read_text())), "the end of its run")


@pytest.mark.parametrize("other", [{"update_to_data": 4.0}, {"source_ratio": 9.0}, {"target_steps": 50}])
def test_runs_of_another_protocol_are_not_mixed_in(tmp_path, other):
    path = tmp_path / "rows.csv"
    fields = {"update_to_data": 1.0, "source_ratio": 1.0, "target_steps": 100, **other}
    append(path, [dataclasses.replace(point(100, 1.0), **fields)])
    with pytest.raises(ValueError, match="choose another --out"):
        missing([Job(gap_of("mujoco:creeping"), "sac", 0, PROTOCOL)], path)


def test_a_run_is_evaluated_at_every_point_and_says_what_it_cost():
    points = play(Job(Gap("mujoco", "creeping"), "ompo_belief", 3, PROTOCOL))
    assert [each.target_steps for each in points] == [50, 100]
    assert [each.updates for each in points] == [50, 100]
    assert points[-1].source_steps >= 200
    assert points[-1].prediction_error < 1.0
    assert points[-1].seconds > points[0].seconds > 0.0


def test_the_shipped_policy_is_evaluated_once():
    points = play(Job(Gap("mujoco", "creeping"), "shipped", 3, PROTOCOL))
    assert [(each.target_steps, each.updates) for each in points] == [(0, 0)]


def test_drives_that_are_known_after_two_seconds_of_motion_need_no_update():
    protocol = dataclasses.replace(PROTOCOL, points=(50,), reported=(50,), episodes=20)
    (before,) = play(Job(Gap("mujoco", "creeping"), "shipped", 3, protocol))
    (after,) = play(Job(Gap("mujoco", "creeping"), "compensation_alone", 3, protocol))
    assert (after.target_steps, after.updates) == (50, 0)
    assert before.success < 0.5
    assert after.success > 0.8


def test_an_arm_that_is_held_ends_the_run_there(monkeypatch):
    monkeypatch.setattr("ompo_ros.experiments.rehearse.LONGEST", 1.0)
    points = play(Job(Gap("mujoco", "creeping"), "sac", 3, PROTOCOL))
    assert points[-1].held.startswith("the arm is held")
    assert points[-1].success == 0.0


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end():
    assert interquartile_mean(np.array([0.0, 1.0, 2.0, 3.0, 100.0, 5.0, 4.0, -50.0])) == pytest.approx(2.5)
    assert interquartile_mean(np.array([0.2, 0.8])) == pytest.approx(0.5)
    values = np.array([0.0, 1.0, 0.5])
    assert interquartile_mean(values) == pytest.approx((0.25 * 0.0 + 0.5 + 0.25 * 1.0) / 1.5)


def test_intervals_are_of_gaps_even_with_one_seed_each():
    low, high = interval({str(gap): [gap / 10] for gap in range(11)})
    assert low < 0.4
    assert high > 0.6


def test_intervals_are_of_seeds_within_gaps_too():
    same = {str(gap): [0.7, 0.7] for gap in range(ENOUGH)}
    assert interval(same) == pytest.approx((0.7, 0.7))
    low, high = interval({gap: [0.4, 1.0] for gap in same})
    assert low < 0.65
    assert high > 0.75


def test_intervals_narrow_with_gaps_and_are_not_told_of_few():
    rng = np.random.default_rng(0)
    few, many = ({str(gap): rng.uniform(0, 1, 2) for gap in range(count)} for count in (ENOUGH, 60))
    (low, high), (lower, upper) = interval(few), interval(many)
    assert upper - lower < high - low
    assert interval(dict(list(few.items())[1:])) is None


def test_how_a_run_ended_is_told():
    good = [point(100, 0.5), point(250, 0.96), point(500, 0.92)]
    assert steps_to_good(good) == 250
    assert math.isinf(steps_to_good(good[:1]))
    assert not fell(good)
    assert fell([point(250, 1.0), point(500, 0.94)])
    assert not fell([point(250, 1.0, episodes=25), point(500, 0.94)])  # fewer episodes flatter


@pytest.mark.parametrize(("episodes", "share"), [(50, "100%"), (25, "0%")])
def test_a_run_that_ends_below_the_shipped_policy_fell_if_that_had_as_many_episodes(episodes, share):
    rows = [point(0, 0.5, method="shipped", episodes=episodes), point(100, 0.2), point(250, 0.2)]
    assert f"| 0.20 | {share} |" in methods_table(rows, [250], ["sac"])


def test_a_gap_weighs_the_same_with_one_seed_or_with_three():
    many = [point(100, 0.0, seed=seed, gap="a") for seed in range(3)]
    text = methods_table([*many, point(100, 1.0, gap="b")], [100], ["sac"])
    assert "| sac | 4 | 2 | 0.50, 0.50 |" in text
    assert by_steps(runs([*many, point(100, 1.0, gap="b")]), [100]) == {100: [0.0, 1.0]}


def test_steps_to_95_are_the_median_of_the_gaps_medians():
    slow = [point(500, 1.0, seed=seed, gap="a") for seed in range(3)]
    rows = [*slow, point(100, 1.0, gap="b"), point(100, 1.0, gap="c"), point(500, 0.5, gap="d")]
    assert "| 300 (83%) |" in methods_table(rows, [500], ["sac"])


def test_a_held_arm_counts_as_no_success_at_every_later_evaluation_and_at_no_other_step():
    whole = [point(100, 0.5), point(250, 1.0)]
    held = [point(100, 0.7, seed=1), point(151, 0.0, seed=1, held="no way home")]
    assert evaluated_steps([*whole, *held]) == [100, 250]
    assert by_steps(runs([*whole, *held]), [100, 250]) == {100: [0.5, 0.7], 250: [1.0, 0.0]}
    assert by_steps(runs(whole[:1]), [100, 250]) == {100: [0.5]}


def test_an_arm_that_is_held_during_an_evaluation_has_no_success_there():
    run = [point(100, 0.7), point(251, 0.0, held="no way home")]
    assert [success_at(run, steps) for steps in (100, 150, 250, 500)] == [0.7, None, 0.0, 0.0]


def test_curves_begin_with_the_shipped_policy_only_where_it_was_evaluated_before_the_first_step():
    evaluated = [point(0, 0.1, method="shipped"), point(100, 0.9)]
    assert [each.success for each in from_the_shipped_policy(runs(evaluated))["mujoco:creeping", "sac", 0]] == [
        0.1,
        0.9,
    ]
    played = [point(500, 0.6, method="shipped"), point(500, 1.0)]  # a drifting arm's rows
    assert [each.success for each in from_the_shipped_policy(runs(played))["mujoco:creeping", "sac", 0]] == [1.0]


def test_table_and_figure_are_drawn_from_the_file_alone(tmp_path):
    path = tmp_path / "rows.csv"
    for seed, success in enumerate((0.8, 1.0)):
        append(path, [point(0, 0.1, method="shipped", seed=seed)])
        append(path, [point(100, success, seed=seed), point(250, 1.0, seed=seed)])
    append(path, [point(40, 0.0, method="darc", held="stuck")])
    for seed in range(2):
        append(path, [point(0, 0.2, method="shipped", seed=seed, gap="panda_gym:gaps/inexpressible_8")])
        append(path, [point(250, 0.25, seed=seed, gap="panda_gym:gaps/inexpressible_8")])
    text = report(path)
    fair, rest = text.split("## chosen gaps")
    chosen, inexpressible = rest.split("## inexpressible gaps")
    assert fair.startswith("## chosen, gaps and seeds in common")
    of_chosen, of_drawn = fair.split("## reach, gaps and seeds in common")
    every, main = of_chosen.split("Main methods.")
    assert "| sac | 1 | 1 | 0.80, 0.80 | 1.00, 1.00 |" in every  # darc has one seed
    assert "| sac | 2 | 1 | 0.90, 0.90 | 1.00, 1.00 |" in main
    assert of_drawn.count("| sac | 2 | 1 | 0.25, 0.25 |") == 2
    assert "| sac | 2 | 1 | 0.25, 0.25 |" in inexpressible
    assert "| sac | 2 | 1 | 0.90, 0.90 | 1.00, 1.00 |" in chosen
    assert "| darc | 1 | 1 | 0.00, 0.00 |" in chosen  # nothing after it was held
    assert "| sac | 0.90 1.00 |" in chosen
    assert path.with_suffix(".md").read_text() == text
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert set(runs(read(path))) >= {("mujoco:creeping", "sac", 0)}
    assert methods_table(read(path), (100,), ["darc"]).count("\n") == 3


def test_only_gaps_and_seeds_that_every_method_has_are_shared():
    both = [point(100, 0.9, method="ompo"), point(100, 0.5)]
    assert shared([*both, point(100, 0.1, seed=1)], ["ompo", "sac"]) == both


def test_a_method_without_all_gaps_or_without_a_common_seed_is_left_out_and_named():
    whole = [point(100, 0.5, method, gap=gap) for method in ("ompo", "sac") for gap in ("a", "b")]
    lacking = [point(100, 0.5, "darc", gap="a"), *(point(100, 0.5, "wsrl", seed=7, gap=gap) for gap in ("a", "b"))]
    methods = ["darc", "ompo", "rlpd", "sac", "wsrl"]
    assert shared([*whole, *lacking], methods) == whole
    text = shared_table([*whole, *lacking], [100], methods)
    assert text.startswith("Gaps: 2. Seeds of each: 1.")
    assert "Left out, as they lack a gap or its seeds: darc, wsrl." in text
    assert "| sac | 2 | 2 | 0.50, 0.50 |" in text
    assert shared_table([*whole, *lacking], [100], ["darc"]) == "None of them has every gap.\n"


def test_fewer_methods_share_more_seeds():
    rows = [point(100, 0.5, method, seed) for method in ("ompo", "sac") for seed in range(3)]
    rows += [point(100, 0.5, method, gap="b") for method in ("ompo", "sac", "darc")]
    text = shared_table([*rows, point(100, 0.5, "darc")], [100], ["ompo", "sac"])
    assert text.startswith("Gaps: 2. Seeds of each: 1 to 3.")
    assert "Left out" not in text


def test_what_a_part_adds_is_told_from_pairs_of_the_same_gap_and_seed():
    with_it = [point(100, 0.9, method="ompo"), point(100, 0.7, method="ompo", seed=1), point(100, 0.2, "ompo", gap="b")]
    without = [point(0, 0.5, method="shipped"), point(0, 0.2, method="shipped", gap="b"), point(0, 0.1, "sac", seed=7)]
    text = parts_table([*with_it, *without], [100], {"a part": ("ompo", "shipped"), "nothing": ("ompo", "sac")})
    assert "| a part | ompo - shipped | 2 | 2 | +0.20 (from 0.00 to +0.40) |" in text
    assert "nothing" not in text
    assert parts_table(with_it, [100], {"a part": ("ompo", "shipped")}) == ""


def test_what_a_part_adds_on_enough_gaps_has_students_interval():
    with_it = [point(100, gap / 10, "ompo", gap=str(gap)) for gap in range(8)]
    without = [point(0, 0.0, "shipped", gap=str(gap)) for gap in range(8)]
    text = parts_table([*with_it, *without], [100], {"a part": ("ompo", "shipped")})
    assert "| 8 | 8 | +0.35 (+0.15 to +0.55) |" in text  # 2.365 * 0.2449 / sqrt(8)


def test_students_interval_misses_the_truth_once_in_twenty():
    rng = np.random.default_rng(0)
    found = [student_interval(rng.normal(0.1, 0.1, ENOUGH)) for _ in range(2_000)]
    assert 0.03 < np.mean([not low < 0.1 < high for low, high in found]) < 0.07
    assert student_interval([0.1] * (ENOUGH - 1)) is None


def test_a_gap_is_a_simulator_and_a_domain():
    assert str(gap_of("creeping")) == "panda_gym:creeping"
    assert gap_of("mujoco:a/b.yaml") == Gap("mujoco", "a/b.yaml")
    with pytest.raises(Exception, match="not a simulator"):
        gap_of("gazebo:creeping")


def test_an_arm_of_the_benchmark_is_that_of_its_own_simulator():
    assert str(gap_of("gaps/expressible_25")) == str(gap_of("mujoco:gaps/expressible_25"))
    with pytest.raises(Exception, match="is an arm in mujoco, not in panda_gym"):
        gap_of("panda_gym:gaps/expressible_25")


def test_arms_that_were_chosen_cost_the_benchmark_none_of_its_methods(tmp_path):
    path = tmp_path / "rows.csv"
    append(path, [point(100, 0.5, gap="mujoco:gaps/expressible_25")])
    append(path, [point(100, 0.7, "ompo")])
    drawn = report(path).split("## reach, gaps and seeds in common")[1].split("\n## ")[0]
    assert "| sac | 1 | 1 | 0.50, 0.50 |" in drawn
    assert "ompo" not in drawn.split("Left out")[0]


def test_rows_that_do_not_fit_on_the_disk_leave_the_file_as_it_was(tmp_path):
    path = tmp_path / "rows.csv"
    append(path, [point(100, 0.5)])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(OSError, match="is the disk full"):
            append(path, [point(250, 1.0)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before


def test_two_comparisons_do_not_write_to_one_file(tmp_path):
    path = tmp_path / "rows.csv"
    with lock(path), pytest.raises(InUse):
        compare([], path, 1)
