"""What a target collector takes over from its learner's status."""

from ompo_msgs.msg import LearnerStatus

from ompo_ros.control.player import Player
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.learner_link import LearnerLink
from ompo_ros.task.tasks import Task


def test_counts_are_taken_over_from_sound_statuses_only(probe, capfd):
    player, said = Player(Task("reach", "dense"), 0.04, seed=0, max_steps=0), []
    link = LearnerLink(probe.node, Identity(probe.node, ""), player, lockstep=False)
    statuses = probe.node.create_publisher(LearnerStatus, "status", qos.LATCHED)

    def refused():
        said.append(capfd.readouterr().err)
        return "status refused: state: is 9" in "".join(said)

    statuses.publish(LearnerStatus(target_steps=10**6, state=9))
    probe.spin_until(refused)
    assert player.target_steps == 0
    statuses.publish(LearnerStatus(target_steps=50, state=LearnerStatus.PAUSED))
    probe.spin_until(lambda: player.target_steps == 50)
    assert link.problem == "the learner is paused"
