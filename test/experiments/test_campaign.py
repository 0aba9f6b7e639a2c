"""The fault campaign: what it draws, what it damages, what it calls lost, and a small one played for real."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recordings import joint_state, record, writer_in

from ompo_ros.experiments.campaign import fake_clock
from ompo_ros.experiments.campaign.conduct import PlayedFault, PlayedRun
from ompo_ros.experiments.campaign.damage import damage
from ompo_ros.experiments.campaign.evidence import is_lost, safe_steps, standing_policies
from ompo_ros.experiments.campaign.faults import DAMAGES, DRIVERS, FCI, KINDS, NODES, Fault, plan
from ompo_ros.experiments.campaign.inject import Injection
from ompo_ros.experiments.campaign.launch import Launch, Run
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.experiments.campaign.recorded import newest_recording, seconds_missing
from ompo_ros.experiments.campaign.recording import COMMAND, STATE, STATUS, Disturbances, moves_since, read_recording
from ompo_ros.experiments.campaign.verdicts import figures, judge
from ompo_ros.learning import Config, checkpoint, make_agent
from ompo_ros.policy.registry_state import Entry, State
from ompo_ros.transitions import Origin

HOME = [0.0, 0.41, 0.0, -1.85, 0.0, 2.26, 0.79]


def first_blocks(seed, number=20):
    return list(itertools.islice(plan(seed, KINDS), number))


# -- the plan ----------------------------------------------------------------------------------------------------


def test_the_same_seed_draws_the_same_faults_and_another_one_others():
    assert first_blocks(4) == first_blocks(4)
    assert first_blocks(4) != first_blocks(5)


def test_a_plan_has_all_kinds_both_drivers_and_the_durations_promised():
    blocks = first_blocks(0)
    faults = [fault for block in blocks for fault in block.faults]
    assert {fault.kind for fault in faults} == set(KINDS)
    assert {block.driver for block in blocks[:2]} == set(DRIVERS)
    assert all(8 <= len(block.faults) <= 12 for block in blocks)
    assert all(2.0 <= fault.pause <= 6.0 for fault in faults)
    stops = [fault.duration for fault in faults if fault.kind == "stop"]
    assert 0.05 <= min(stops) < 0.2
    assert 1.0 < max(stops) <= 3.0
    assert {fault.victim for fault in faults if fault.kind == "files"} == set(DAMAGES)


def test_behind_the_makers_protocol_the_driver_is_what_is_killed_and_stopped():
    blocks = list(itertools.islice(plan(0, ("kill", "stop"), (FCI,)), 10))
    assert {block.driver for block in blocks} == {FCI}
    victims = {fault.victim for block in blocks for fault in block.faults}
    assert victims == {*NODES, "fci_driver"}


def test_each_driver_soon_meets_cut_networks_and_set_clocks_and_runs_without_them():
    for driver in DRIVERS:
        blocks = [block for block in first_blocks(1, 8) if block.driver == driver]
        for kind in ("network", "clock"):
            assert 0 < sum(block.uses(kind) for block in blocks) <= 2


# -- what a run's folder proves ----------------------------------------------------------------------------------


def make_registry(run_dir, versions, stable=0):
    """A registry as the policy server writes it, around files that need not be policies."""
    state, folder = State(), run_dir / "policies" / "policies"
    folder.mkdir(parents=True, exist_ok=True)
    for version in versions:
        content = f"policy {version}".encode()
        digest = hashlib.sha256(content).hexdigest()
        entry = Entry(version, digest, f"weights {version}", 0.0, "", None)
        (folder / entry.file_name).write_bytes(content)
        state = state.with_entry(entry).with_move("latest", version, "", 0.0)
    if stable:
        state = state.with_move("stable", stable, "", 0.0, pin=True)
    (run_dir / "policies" / "registry.json").write_bytes(state.to_json())


def save_checkpoint(run_dir, target_steps):
    agent = make_agent(Config(hidden_size=8, batch_size=4), 3, 2, 0, "cpu")
    agent.experience.seen[Origin.TARGET] = target_steps
    agent.updates = target_steps
    return checkpoint.save(agent, run_dir / "checkpoints")


def test_policies_stand_until_they_are_gone(tmp_path):
    def lost(channel, channels_known=True):
        return is_lost(standing[channel], tmp_path, channels_known=channels_known)

    make_registry(tmp_path, range(1, 5), stable=2)
    standing = {policy.channel: policy for policy in standing_policies(tmp_path)}
    assert (standing["latest"].version, standing["stable"].version) == (4, 2)
    assert not lost("latest")
    assert not lost("stable")

    make_registry(tmp_path, range(1, 6), stable=5)
    assert not lost("latest")
    assert lost("stable"), "the channel left a pinned policy"
    assert not lost("stable", channels_known=False), "nobody could know, and the policy is there"

    make_registry(tmp_path, [9])
    assert lost("latest")
    assert lost("stable", channels_known=False)

    make_registry(tmp_path, range(5, 30))
    assert not lost("latest"), "the server keeps the newest twenty only"

    (tmp_path / "policies" / "registry.json").unlink()
    assert lost("latest")


def test_only_a_checkpoint_that_was_left_alone_makes_transitions_safe(tmp_path):
    assert safe_steps(tmp_path, []) == 0
    older, newest = save_checkpoint(tmp_path, 50), save_checkpoint(tmp_path, 100)
    assert safe_steps(tmp_path, []) == 100
    assert safe_steps(tmp_path, [newest / "agent.safetensors"]) == 50
    assert safe_steps(tmp_path, [newest / "agent.safetensors", older / "manifest.json"]) == 0


@pytest.mark.parametrize(("victim", "variant"), [(victim, how) for victim in DAMAGES for how in DAMAGES[victim]])
def test_every_damage_changes_one_file_and_says_which(tmp_path, victim, variant):
    fault = Fault("files", victim, 2.0, variant=variant, seed=3)
    assert damage(tmp_path, fault) is None, "there is nothing to damage yet"
    make_registry(tmp_path, [1, 2])
    save_checkpoint(tmp_path, 10)
    for name in ("metrics.csv", "record.json"):
        (tmp_path / name).write_text("figures")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    damaged = damage(tmp_path, fault)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert [path for path in before if before[path] != after.get(path)] == [damaged]


def test_the_clock_of_a_run_is_set_for_it_alone(tmp_path):
    if fake_clock.library() is None:
        pytest.skip("faketime is not installed")
    clock = fake_clock.FakeClock(tmp_path)
    clock.set_to(-3600.0)
    code = "import time; print(time.time(), time.monotonic())"
    faked, real = (
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **extra}, capture_output=True, text=True, check=True
        ).stdout.split()
        for extra in (clock.environment, {})
    )
    assert -3601.0 < float(faked[0]) - float(real[0]) < -3500.0
    assert abs(float(faked[1]) - float(real[1])) < 60.0


# -- verdicts ----------------------------------------------------------------------------------------------------


class Story:
    """A run as it might have been, told to the judge through the observer's file."""

    def __init__(self, folder):
        self.rows, self.folder = [], folder
        self.run = Run(folder, folder / "run", "", 200, 0, {})
        self.log = folder / "log"
        self.log.touch()
        self.run.launches.append(Launch(None, self.log, 0.0, end=60.0))
        self.result = PlayedRun(self.run, "", folder / "recording.jsonl", [], has_report=True)

    def status(self, time, steps):
        self.rows.append({"kind": STATUS, "time": time, "sent": time, "target_steps": steps})

    def moves(self, begin, end, speed=0.02):
        self.rows.append({"kind": STATE, "time": begin - 1.5, "sent": begin - 1.5, "position": HOME})
        place = number = 0.0
        while (time := begin + number * 0.04) < end:
            place += min(number, 2.0) / 2.0 * speed
            point = {"offset": 0.0, "position": [place, *HOME[1:]], "velocity": [], "acceleration": []}
            row = {"kind": COMMAND, "time": time, "sent": time, "number": int(number), "stamp": None, "points": [point]}
            self.rows.append(row)
            number += 1.0

    def fault(self, kind, victim, begin, end=float("inf"), safe=0, standing=(), damaged=None, gap=0.0):
        injection = Injection(begin, end, damaged)
        self.result.played.append(PlayedFault(Fault(kind, victim, 2.0), injection, safe, list(standing), gap))

    def judged(self):
        lines = "".join(json.dumps(row) + "\n" for row in self.rows)
        (self.folder / "recording.jsonl").write_text(lines)
        return figures(judge(self.result, read_limits("panda")), [])


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path)


def test_a_run_without_harm_has_nothing_to_report(story):
    story.moves(10.0, 12.0)
    story.status(9.0, 100)
    story.fault("stop", "learner", 11.0, 11.5, safe=100)
    story.status(12.0, 120)
    figures = story.judged()
    assert figures.pop("faults") == 1
    assert not any(figures.values()), figures


def test_transitions_are_lost_only_below_the_newest_checkpoint(story):
    story.status(9.0, 150)
    story.fault("kill", "learner", 10.0, safe=100)
    story.status(14.0, 100)
    assert story.judged()["transitions_lost"] == 0
    story.status(15.0, 60)
    assert story.judged()["transitions_lost"] == 40


def test_an_arm_that_moves_on_without_states_is_a_late_hold(story):
    story.moves(10.0, 12.0)
    story.fault("stop", "robot_sim", 11.0, 12.0)
    assert story.judged()["late_holds"] == 1


def test_an_arm_may_move_on_without_a_learner(story):
    story.moves(10.0, 12.0)
    story.fault("stop", "learner", 11.0, 12.0)
    assert story.judged()["late_holds"] == 0


def test_a_jump_of_the_arm_is_a_violation(story):
    story.moves(10.0, 12.0, speed=0.5)
    assert story.judged()["limit_violations"] > 0


def test_a_run_without_a_report_is_not_resumed(story):
    story.fault("kill", "run_manager", 10.0)
    story.result.has_report = False
    assert story.judged()["not_resumed"] == 1


def test_a_stop_by_the_robot_itself_is_counted_from_the_drivers_log(story):
    story.log.write_text("[ompo.fci_driver]: stopped: reflex: joint_velocity_violation. Call ~/recover\n")
    story.fault("stop", "target_collector", 10.0, end=10.5)
    assert story.judged()["reflexes"] == 1


def test_a_lost_policy_counts_once_and_not_if_its_own_file_was_damaged(story):
    make_registry(story.run.run_dir, [1, 2], stable=1)
    standing = standing_policies(story.run.run_dir)
    story.fault("kill", "policy_server", 10.0, standing=standing)
    story.fault("kill", "policy_server", 14.0, standing=standing)
    make_registry(story.run.run_dir, [3])
    assert story.judged()["policies_lost"] == 2
    for policy in standing:
        story.fault("files", "policy", 15.0, damaged=story.run.run_dir / policy.file)
    assert story.judged()["policies_lost"] == 0


def test_stamps_of_a_clock_that_was_set_are_read_on_the_clock_they_were_made_by(tmp_path):
    point = {"offset": 0.04, "position": HOME, "velocity": [], "acceleration": []}
    row = {"kind": COMMAND, "time": 100.0, "sent": 3699.99, "number": 1, "stamp": 3699.98, "points": [point]}
    path = tmp_path / "recording.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (command,) = read_recording(path, Disturbances(offsets=[0.0, 3600.0])).commands
    assert (command.received, command.starts) == (pytest.approx(99.99), pytest.approx(99.98))
    (held_up,) = read_recording(path, Disturbances([3600.0], cuts=[(99.0, 99.995)])).commands
    assert held_up.received == 100.0, "it came when the network was back"


def test_an_arm_that_has_not_moved_since_is_seen(tmp_path):
    path = tmp_path / "recording.jsonl"
    path.write_text("".join(json.dumps({"kind": COMMAND, "time": time}) + "\n" for time in (1.0, 2.0, 3.0)))
    assert moves_since(path, 2.5)
    assert not moves_since(path, 3.5)


def test_a_recording_is_lost_if_it_ends_long_before_its_recorder_or_cannot_be_read(story):
    folder = story.run.run_dir / "recordings"
    path = record(folder, episodes=3)
    story.fault("kill", "recorder", 10.0, gap=0.9)
    assert story.judged()["recordings_lost"] == 0
    story.fault("kill", "recorder", 20.0, gap=1.1)
    assert story.judged()["recordings_lost"] == 1
    path.write_bytes(b"?" * 100_000)
    assert story.judged()["recordings_lost"] == 2


def test_what_a_killed_recorder_lost_is_measured_from_its_last_joint_state(tmp_path):
    assert newest_recording(tmp_path) is None
    record(tmp_path / "recordings", episodes=1)
    writer = writer_in(tmp_path / "recordings")
    path = newest_recording(tmp_path)
    killed = time.monotonic()
    assert seconds_missing(path, killed) == 0.0, "it had heard nothing yet"
    stamp = time.time_ns() - 3000 * 10**9
    writer.write("/ompo/joint_states", "sensor_msgs/msg/JointState", joint_state(stamp, HOME), stamp, stamp)
    writer.flush()
    path.write_bytes(path.read_bytes()[:-2])
    assert seconds_missing(path, killed) == pytest.approx(3000.0, abs=60.0)


# -- played for real ---------------------------------------------------------------------------------------------


def campaign(*arguments):
    command = [sys.executable, "-m", "ompo_ros.experiments.campaign", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def started_by(folder):
    """The nodes whose parameters lie in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text()
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


def test_an_unknown_kind_is_refused_with_those_there_are(tmp_path):
    result = campaign("--kinds", "kill,magic")
    assert result.returncode == 2
    assert "magic is unknown, choose from kill, stop, files, disk, network, clock" in result.stderr


@pytest.mark.timeout(1200)
def test_a_small_campaign_plays_its_faults_and_leaves_nothing(tmp_path):
    folder = tmp_path / "kept"
    result = campaign("--rounds", "4", "--seed", "15", "--kinds", "kill,stop,files", "--keep", str(folder))
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures["faults"] == 4, result.stdout + result.stderr
    assert "no policy is held" not in result.stdout, result.stdout
    assert (figures["not_resumed"], figures["transitions_lost"], figures["skipped"]) == (0, 0, []), result.stdout
    assert sum(" | " in line for line in result.stdout.splitlines()) >= 1 + 1 + 4
    assert started_by(folder) == []
    assert (folder / "run-0" / "recording.jsonl").stat().st_size > 0
