"""A learner whose disk is full, whose checkpoints are damaged, whose folder is taken or whose networks blow up."""

import re
import sys

import launch
import launch_pytest
import pytest
from launch_pytest.tools import process as process_tools
from learner_peer import SMALL, Collectors, learner_action, settings
from ompo_msgs.msg import LearnerStatus
from std_srvs.srv import SetBool, Trigger
from waiting import PATIENCE

from ompo_ros.learning import Config, checkpoint, make_agent
from ompo_ros.learning.learner_folder import LearnerFolder
from ompo_ros.nodes.wire.conversions import actor_from_msg, metrics_from_msg
from ompo_ros.transitions import Origin


def graph_of(learner):
    return launch.LaunchDescription([learner, launch_pytest.actions.ReadyToTest()])


@pytest.fixture
def collectors(probe):
    return Collectors(probe)


def run_with_two_checkpoints(folder):
    own = {name.removeprefix("learning."): value for name, value in SMALL.items()}
    agent = make_agent(Config(**own), 20, 7, 0, "cpu")
    return [checkpoint.save(agent, folder / "checkpoints") for _ in range(2)]


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def said(learner):
    return learner.get_stderr() + learner.get_stdout()


# -- a disk that takes small files only ------------------------------------------------------------------------------


@pytest.fixture
def crammed(tmp_path):
    given = settings(tmp_path, checkpoint_period=1.0, target_steps=0)
    parameters = [word for name, value in given.items() for word in ("-p", f"{name}:={value}")]
    command = ["prlimit", "--fsize=2000", sys.executable, "-m", "ompo_ros.nodes.learner", "--ros-args", *parameters]
    return launch.actions.ExecuteProcess(cmd=command, output="screen", cached_output=True)


@launch_pytest.fixture
def crammed_graph(ros_domain, crammed):
    return graph_of(crammed)


@pytest.mark.launch(fixture=crammed_graph)
def test_on_a_full_disk_it_learns_on_reports_it_and_ends_cleanly(collectors, crammed, tmp_path):
    collectors.wait_for_learner()
    for _ in range(4):
        collectors.send(Origin.SOURCE)
        collectors.send(Origin.TARGET)
    collectors.until(updates=4 * 64)
    collectors.probe.spin_until(lambda: collectors.actors and collectors.actors[-1].updates > 0)
    answer = collectors.probe.call(Trigger, "learner/save_checkpoint", Trigger.Request())
    assert not answer.success
    assert "too large" in answer.message
    collectors.probe.spin_until(lambda: metrics_from_msg(collectors.status[-1])["failed_saves"] >= 1)
    assert list((tmp_path / "checkpoints").iterdir()) == []
    yield
    assert crammed.return_code == 0
    assert "no checkpoint is written, the older ones stay" in said(crammed)


# -- a folder that cannot be had -------------------------------------------------------------------------------------


def test_a_second_learner_in_one_folder_is_refused(make, tmp_path):
    holder = LearnerFolder(tmp_path, 2, pytest.fail)
    said = "is in use by another process, perhaps a running learner: choose another run_dir"
    with pytest.raises(ValueError, match=said):
        make("learner", **settings(tmp_path))
    holder.close()


# -- damaged checkpoints ---------------------------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path):
    _, second = run_with_two_checkpoints(tmp_path)
    flip_a_byte(second / "manifest.json")
    return learner_action(tmp_path, warmup=1)


@launch_pytest.fixture
def damaged_graph(ros_domain, damaged):
    return graph_of(damaged)


@pytest.mark.launch(fixture=damaged_graph)
def test_a_damaged_checkpoint_is_named_and_the_one_before_resumed(collectors, damaged, launch_context):
    collectors.wait_for_learner()
    warned = re.compile(r"checkpoint-000002-0: manifest.json is .*\n(.*\n)*.*resumed from \S*/checkpoint-000001-0")
    assert process_tools.wait_for_stderr_sync(launch_context, damaged, warned.search, timeout=PATIENCE)


def test_where_no_checkpoint_is_left_the_run_is_refused_and_not_overwritten(make, tmp_path):
    for path in run_with_two_checkpoints(tmp_path):
        flip_a_byte(path / "agent.safetensors")
    with pytest.raises(ValueError, match="none of its checkpoints can be used"):
        make("learner", **settings(tmp_path))
    assert len(checkpoint.list_checkpoints(tmp_path / "checkpoints")) == 2


# -- networks that blow up -------------------------------------------------------------------------------------------


@pytest.fixture
def wild(tmp_path):
    rates = {"learning.algorithm": "sac", "learning.temperature_lr": 1.0, "learning.target_entropy_per_dim": 5.0}
    return learner_action(tmp_path, update_to_data=50.0, target_steps=0, **rates)


@launch_pytest.fixture
def wild_graph(ros_domain, wild):
    return graph_of(wild)


@pytest.mark.launch(fixture=wild_graph)
def test_networks_that_blow_up_again_and_again_pause_the_learner_and_never_get_out(collectors, wild, tmp_path):
    collectors.wait_for_learner()
    collectors.send(Origin.SOURCE)
    collectors.send(Origin.TARGET)
    collectors.until(state=LearnerStatus.PAUSED)
    assert metrics_from_msg(collectors.status[-1])["recoveries"] == 3
    assert all(actor_from_msg(actor) for actor in collectors.actors)  # which refuses whatever is not finite
    assert collectors.probe.call(Trigger, "learner/save_checkpoint", Trigger.Request()).success
    assert checkpoint.load(checkpoint.newest_good(tmp_path / "checkpoints"), device="cpu").updates > 0
    collectors.probe.call(SetBool, "learner/set_paused", SetBool.Request(data=False))
    six = lambda: metrics_from_msg(collectors.status[-1])["recoveries"] == 6  # noqa: E731
    collectors.probe.spin_until(lambda: six() and collectors.status[-1].state == LearnerStatus.PAUSED)
    yield
    assert wild.return_code == 0
    assert "paused, restoring does not help" in said(wild)
