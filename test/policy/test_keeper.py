"""From weights to stable and back, without ROS."""

import dataclasses

import numpy as np
import pytest
from example_policies import REACH, make_tensors

from ompo_ros.policy.actor import Actor
from ompo_ros.policy.errors import ContractMismatch, RegistryError
from ompo_ros.policy.gate import GateSettings
from ompo_ros.policy.keeper import PolicyKeeper
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, STABLE
from ompo_ros.task.acting import Evaluation

WIN, LOSS = (True, 0.0), (False, -1.0)


@pytest.fixture
def keeper(tmp_path):
    registry = Registry(tmp_path, keep=5)
    keeper = PolicyKeeper(registry, REACH, GateSettings())
    obs = np.random.default_rng(0).normal(size=(300, 20)).astype(np.float32)
    keeper.record(obs, obs + np.float32(0.01))
    yield keeper
    registry.close()


def accept(keeper: PolicyKeeper, version: int):
    return keeper.accept(
        Actor(make_tensors(seed=version)), version=version, stamp=1.0, training=Training(version, version)
    )


def promote(keeper: PolicyKeeper, version: int, episodes=(WIN,) * 20):
    accept(keeper, version)
    candidate, verdict = keeper.next_candidate()
    assert verdict.passed, verdict.reason
    return keeper.judge(candidate, episodes)


def active(keeper: PolicyKeeper) -> tuple[int, int]:
    return keeper.registry.active(LATEST), keeper.registry.active(STABLE)


def test_a_proven_policy_becomes_stable_and_says_so_in_its_file(keeper):
    assert promote(keeper, 1).passed
    assert active(keeper) == (1, 1)
    assert keeper.policy(STABLE).manifest.evaluation.successes == 20
    assert keeper.policy(STABLE).manifest.parity.recorded_observations == 256


def test_a_worse_policy_stays_latest_and_the_registry_says_why(keeper):
    promote(keeper, 1)
    assert not promote(keeper, 2, (LOSS,) * 20).passed
    assert active(keeper) == (2, 1)
    assert "refused: 0/20" in keeper.registry.entries[-1].note


def test_a_runs_result_becomes_stable_if_it_passes_and_says_how_it_did(keeper):
    accept(keeper, 1)
    assert not keeper.judge_result(1, Evaluation(40, 12, -5.0)).passed
    assert active(keeper) == (1, 0)
    assert keeper.registry.load(1).manifest.evaluation == Evaluation(40, 12, -5.0)
    assert not keeper.waiting, "the gate would play it again"
    accept(keeper, 2)
    verdict = keeper.judge_result(2, Evaluation(40, 39, -2.0))
    assert verdict.passed
    assert "39/40 episodes succeed" in verdict.reason
    assert active(keeper) == (2, 2)
    assert keeper.policy(STABLE).manifest.evaluation.successes == 39


def test_a_result_that_is_judged_again_gets_the_same_answer_and_moves_nothing(keeper):
    promote(keeper, 1)
    accept(keeper, 2)
    result = Evaluation(40, 40, -2.0)
    judged = keeper.judge_result(2, result)
    assert (judged.passed, active(keeper)) == (True, (2, 2))
    keeper.activate(STABLE, 1, "a user's", pin=False)
    assert keeper.judge_result(2, result) == judged
    assert active(keeper) == (2, 1), "a user's move was undone"


def test_a_restarted_server_does_not_refuse_what_it_made_stable(keeper, tmp_path):
    accept(keeper, 1)
    result = Evaluation(20, 14, -2.0)  # good enough beside no stable, not certainly as good as another 14 of 20
    assert keeper.judge_result(1, result).passed
    keeper.registry.close()
    registry = Registry(tmp_path, keep=5)
    assert PolicyKeeper(registry, REACH, GateSettings()).judge_result(1, result).passed
    registry.close()


def test_a_result_that_shakes_or_is_unknown_is_not_stable_however_often_it_succeeds(keeper):
    obs = np.random.default_rng(1).normal(size=(300, 20)).astype(np.float32)
    keeper.record(obs, -20.0 * obs)
    accept(keeper, 1)
    verdict = keeper.judge_result(1, Evaluation(40, 40, -2.0))
    assert "actions change by" in verdict.reason
    assert active(keeper) == (1, 0)
    with pytest.raises(RegistryError, match="policy 7 is not in the registry"):
        keeper.judge_result(7, Evaluation(40, 40, -2.0))


def test_only_the_newest_candidate_waits(keeper):
    accept(keeper, 1)
    accept(keeper, 2)
    first, _ = keeper.next_candidate()
    assert (first.version, keeper.waiting) == (2, False)
    keeper.put_back(first)
    assert keeper.waiting
    accept(keeper, 3)
    keeper.put_back(first)
    assert keeper.next_candidate()[0].version == 3


def test_a_channel_gives_the_very_policy_that_was_made(keeper):
    made = accept(keeper, 1)
    assert keeper.policy(LATEST) is made
    candidate, _ = keeper.next_candidate()
    keeper.judge(candidate, (WIN,) * 20)
    evaluated = keeper.policy(STABLE)
    assert evaluated is keeper.policy(LATEST) is keeper.policy(STABLE)
    assert (evaluated.actor, evaluated.manifest.evaluation.successes) == (made.actor, 20)
    assert evaluated.onnx == keeper.registry.load(1).onnx


def test_a_channel_that_a_user_moved_gives_what_is_on_disk(keeper):
    for version in (1, 2, 3):
        accept(keeper, version)
    keeper.activate(LATEST, 2, "to look at it", pin=True)
    accept(keeper, 4)
    assert keeper.policy(LATEST).onnx == keeper.registry.load(2).onnx
    keeper.activate(LATEST, 4, "", pin=False)
    assert keeper.policy(LATEST).version == 4


def test_a_version_learned_again_replaces_what_its_channel_gave(keeper):
    accept(keeper, 1)
    again = Actor(make_tensors(seed=9))
    keeper.accept(again, version=1, stamp=1.0, training=Training(1, 1))
    assert keeper.policy(LATEST).manifest.weights_sha256 == again.sha256


def test_weights_sent_again_change_nothing(keeper):
    promote(keeper, 1)
    accept(keeper, 2)
    entries, moves = keeper.registry.entries, keeper.registry.moves
    accept(keeper, 1)
    assert (keeper.registry.entries, keeper.registry.moves) == (entries, moves)


def test_stable_falls_back_step_by_step_and_stays_when_there_is_nothing_left(keeper):
    for version in (1, 2, 3):
        promote(keeper, version)
    for fallen, former in ((3, 2), (2, 1)):
        reasons = [keeper.watch_stable(fallen, [LOSS]) for _ in range(4)]
        assert reasons[:3] == [None] * 3
        assert reasons[3].startswith(f"fell back from {fallen} to {former}: 0/4")
    assert [keeper.watch_stable(1, [LOSS]) for _ in range(20)] == [None] * 20
    assert active(keeper) == (3, 1)


def test_when_the_robot_changed_a_candidate_is_compared_with_what_stable_does_now(keeper):
    promote(keeper, 1)
    assert not promote(keeper, 2, (WIN,) * 14 + (LOSS,) * 6).passed
    keeper.watch_stable(1, (LOSS,) * 20)
    assert promote(keeper, 3, (WIN,) * 14 + (LOSS,) * 6).passed
    assert "stable's 0/20" in keeper.registry.moves[-1].reason


def test_episodes_of_other_policies_do_not_count(keeper):
    promote(keeper, 1)
    promote(keeper, 2)
    assert [keeper.watch_stable(1, [LOSS]) for _ in range(20)] == [None] * 20
    assert active(keeper) == (2, 2)


def test_what_a_user_holds_stays(keeper):
    for version in (1, 2):
        promote(keeper, version)
    keeper.activate(STABLE, 0, "", pin=True)
    assert active(keeper) == (2, 1)
    assert [keeper.watch_stable(1, [LOSS]) for _ in range(20)] == [None] * 20
    accept(keeper, 3)
    assert not keeper.waiting
    keeper.activate(LATEST, 1, "to look at it", pin=True)
    accept(keeper, 4)
    assert active(keeper) == (1, 1)
    keeper.activate(STABLE, 2, "done", pin=False)
    assert keeper.waiting
    with pytest.raises(RegistryError, match="policy 9 is not"):
        keeper.activate(STABLE, 9, "", pin=False)


def test_nothing_waits_before_the_target_was_seen(tmp_path):
    keeper = PolicyKeeper(Registry(tmp_path), REACH, GateSettings())
    accept(keeper, 1)
    assert not keeper.waiting
    with pytest.raises(ContractMismatch, match="19 values"):
        keeper.record(np.zeros((1, 19), np.float32), np.zeros((1, 19), np.float32))


def test_a_registry_of_another_task_is_refused(keeper):
    accept(keeper, 1)
    with pytest.raises(ContractMismatch, match="choose another registry_dir"):
        PolicyKeeper(keeper.registry, dataclasses.replace(REACH, robot="fr3"), GateSettings())
