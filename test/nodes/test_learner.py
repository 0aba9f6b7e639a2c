"""The learner over DDS: fed with transitions it publishes actors, refuses what is wrong, and comes back from a kill."""

import os
import signal

import launch
import launch_pytest
import numpy as np
import pytest
from launch_pytest.tools import process as process_tools
from learner_peer import SMALL, Collectors, learner_action, settings
from ompo_msgs.msg import ArmBelief, LearnerStatus
from std_srvs.srv import SetBool, Trigger
from waiting import PATIENCE

from ompo_ros.learning import Config, checkpoint, make_agent
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import actor_from_msg
from ompo_ros.sim.belief.coordinates import NAMES
from ompo_ros.transitions import Origin


@pytest.fixture
def learner(tmp_path):
    return learner_action(tmp_path)


@launch_pytest.fixture
def graph(ros_domain, learner):
    return launch.LaunchDescription([learner, launch_pytest.actions.ReadyToTest()])


@pytest.fixture
def collectors(probe):
    return Collectors(probe)


@pytest.mark.launch(fixture=graph)
def test_learns_from_both_streams_and_publishes_actors_until_its_steps_are_taken(collectors):
    collectors.wait_for_learner()
    assert collectors.status[-1].source_budget == 128
    collectors.send(Origin.TARGET)
    collectors.probe.spin_until(lambda: collectors.status[-1].target_steps == 64)
    assert collectors.status[-1].updates == 0  # the warm-up is not complete yet
    assert collectors.status[-1].source_budget == 128  # more is asked for as updates are made
    collectors.send(Origin.SOURCE)
    collectors.probe.spin_until(lambda: collectors.status[-1].state == LearnerStatus.FINISHED)
    assert collectors.status[-1].updates == 64
    assert collectors.status[-1].source_budget == 128 + 2 * 64
    collectors.probe.spin_until(lambda: collectors.actors and collectors.actors[-1].updates == 64)
    assert actor_from_msg(collectors.actors[-1]).tensors["weight_0"].shape == (20, 16)
    versions = [actor.version for actor in collectors.actors]
    assert versions == sorted(set(versions))


@pytest.mark.launch(fixture=graph)
def test_demonstrations_are_counted_apart_and_call_for_no_updates(collectors):
    collectors.wait_for_learner()
    collectors.send(Origin.SOURCE)
    collectors.send(Origin.DEMONSTRATION)
    collectors.send(Origin.DEMONSTRATION)
    collectors.until(demonstration_steps=128, source_steps=64, target_steps=0, updates=0, source_budget=128)
    collectors.send(Origin.SOURCE)
    collectors.send(Origin.TARGET)
    collectors.until(updates=64, demonstration_steps=128, target_steps=64)


@pytest.mark.launch(fixture=graph)
def test_refuses_what_is_wrong_and_loses_nothing_else(collectors):
    collectors.wait_for_learner()
    collectors.send(Origin.TARGET)
    collectors.send(Origin.TARGET, reward=[float("nan")] * 64)
    collectors.send(Origin.SOURCE, act_dim=3)
    collectors.sequence[Origin.TARGET] += 2
    collectors.send(Origin.TARGET)
    collectors.probe.spin_until(lambda: collectors.status[-1].target_steps == 128)
    collectors.probe.spin_until(lambda: collectors.status[-1].refused_messages == 2)
    assert collectors.status[-1].lost_batches == 2  # a refused one is not lost


@pytest.mark.launch(fixture=graph)
def test_a_believed_drive_is_compensated_by_the_next_actor_and_a_doubtful_one_is_not(
    collectors, learner, launch_context
):
    collectors.wait_for_learner()
    believed = collectors.probe.node.create_publisher(ArmBelief, "belief", qos.LATCHED)
    collectors.probe.spin_until(lambda: believed.get_subscription_count() > 0)

    def tell(bias, error):
        means = np.where([name.startswith("action_bias") for name in NAMES], bias, 1.0)
        believed.publish(
            ArmBelief(
                names=NAMES, means=means, deviations=0.1 * means, prediction_error=error, prior_prediction_error=1.0
            )
        )

    def compensated():
        return collectors.actors and float(actor_from_msg(collectors.actors[-1]).tensors["action_bias"][0])

    tell(0.5, error=0.1)
    collectors.probe.spin_until(lambda: compensated() == 0.5)
    tell(-0.5, error=1.5)
    tell(float("nan"), error=0.1)
    tell(1e39, error=0.1)  # too much for the networks' numbers
    refused = "belief refused, the drives stay compensated as they are: means: action_bias.1 is 1e+39"
    assert process_tools.wait_for_stderr_sync(launch_context, learner, lambda text: refused in text, timeout=PATIENCE)
    tell(0.25, error=0.2)
    collectors.probe.spin_until(lambda: compensated() == 0.25)
    assert -0.5 not in {float(actor_from_msg(msg).tensors["action_bias"][0]) for msg in collectors.actors}


@pytest.mark.launch(fixture=graph)
def test_paused_it_makes_no_update_and_goes_on_when_told(collectors):
    collectors.wait_for_learner()
    call = lambda paused: collectors.probe.call(SetBool, "learner/set_paused", SetBool.Request(data=paused))  # noqa: E731
    assert call(True).success
    collectors.send(Origin.SOURCE)
    collectors.send(Origin.TARGET)
    collectors.probe.spin_until(lambda: collectors.status[-1].target_steps == 64)
    assert collectors.status[-1].state == LearnerStatus.PAUSED
    assert collectors.status[-1].updates == 0
    call(False)
    collectors.probe.spin_until(lambda: collectors.status[-1].updates == 64)


@pytest.mark.launch(fixture=graph)
def test_killed_it_comes_back_with_its_buffers_its_updates_and_a_newer_policy(collectors, learner):
    collectors.wait_for_learner()
    collectors.send(Origin.SOURCE)
    collectors.send(Origin.TARGET)
    collectors.probe.spin_until(lambda: collectors.status[-1].updates == 64)
    assert collectors.probe.call(Trigger, "learner/save_checkpoint", Trigger.Request()).success
    version = collectors.actors[-1].version
    killed = learner.process_details["pid"]
    collectors.status.clear()
    os.kill(killed, signal.SIGKILL)
    collectors.probe.spin_until(lambda: collectors.status and learner.process_details["pid"] != killed)
    assert collectors.status[-1].updates == 64
    assert (collectors.status[-1].source_steps, collectors.status[-1].target_steps) == (64, 64)
    collectors.probe.spin_until(lambda: collectors.actors[-1].version > version)


def test_a_run_is_not_gone_on_with_under_other_settings(make, tmp_path):
    own = {name.removeprefix("learning."): value for name, value in SMALL.items()}
    checkpoint.save(make_agent(Config(**own), 20, 7, 0, "cpu"), tmp_path / "checkpoints")
    with pytest.raises(ValueError, match=r"discount is 0\.99 in it and 0\.9 in this run: start with the same"):
        make("learner", **settings(tmp_path, **{"learning.discount": 0.9}))
