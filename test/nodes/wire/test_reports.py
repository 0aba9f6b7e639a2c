"""How an episode ended, as other nodes are told."""

import pytest
from builtin_interfaces.msg import Time
from ompo_msgs.msg import EpisodeSummary

from ompo_ros.nodes.wire.conversions import check_episode
from ompo_ros.nodes.wire.reports import episode_summary
from ompo_ros.task.acting import EpisodeResult
from ompo_ros.transitions import Origin


@pytest.mark.parametrize(
    ("completed", "stopped", "outcome"),
    [
        (True, False, EpisodeSummary.TRUNCATED),
        (False, False, EpisodeSummary.DROPPED),
        (False, True, EpisodeSummary.STOPPED),
    ],
)
def test_an_episode_that_a_policy_lost_is_told_from_one_that_was_interrupted(completed, stopped, outcome):
    result = EpisodeResult(
        steps=7,
        episode_return=-1.0,
        success=False,
        completed=completed,
        deterministic=True,
        policy_version=3,
        stopped=stopped,
    )
    told = episode_summary(result, origin=Origin.TARGET, run_id="", collector_id="c", episode=1, stamp=Time())
    check_episode(told)
    assert told.outcome == outcome
