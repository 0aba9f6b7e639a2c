"""What goes to which buffer, in the three settings, and what rings do at their edges."""

from collections import deque

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ompo_ros.learning import Config, EmptyBuffer
from ompo_ros.learning.buffers import TARGET, TERMINATED, TRUNCATED, Layout, Ring
from ompo_ros.learning.experience import Experience
from ompo_ros.transitions import InvalidData, Origin, Transitions

CPU = torch.device("cpu")


def experience(**settings):
    sizes = {"global_capacity": 200, "local_capacity": 20, "initial_capacity": 30, "merge": "round"}
    return Experience(Config(**{**sizes, **settings}), Layout(5, 2), CPU)


@given(st.integers(1, 12), st.lists(st.integers(1, 30), max_size=12))
def test_ring_keeps_the_newest(capacity, batches):
    ring = Ring("ring", {"value": (0, torch.int64), "pair": (2, torch.int64)}, capacity, CPU)
    model, start = deque(maxlen=capacity), 0
    for count in batches:
        values = torch.arange(start, start + count)
        ring.add({"value": values, "pair": torch.stack((values, -values), 1)})
        model.extend(values.tolist())
        start += count
    assert sorted(ring.used()["value"].tolist()) == list(model)
    assert (ring.used()["pair"] == torch.stack((ring.used()["value"], -ring.used()["value"]), 1)).all()
    assert (ring.size, ring.added) == (len(model), start)


def test_ring_is_allocated_once_and_samples_uniformly():
    ring = Ring("ring", {"value": (1, torch.float32)}, 10, CPU)
    address = ring.columns["value"].data_ptr()
    rng = torch.Generator().manual_seed(0)
    for i in range(25):
        ring.add({"value": torch.tensor([[float(i)]])})
    out = torch.empty(20_000, 1)
    ring.sample_into(out, "value", rng)
    assert ring.columns["value"].data_ptr() == address
    shares = torch.bincount(out[:, 0].long(), minlength=25)[15:] / len(out)
    assert (shares - 0.1).abs().max() < 0.01


@given(st.integers(1, 9), st.integers(0, 30), st.integers(0, 12))
def test_newest_rows_are_the_ones_added_last(capacity, added, asked):
    ring = Ring("ring", {"value": (0, torch.int64)}, capacity, CPU)
    for i in range(added):
        ring.add({"value": torch.tensor([i])})
    newest = [value for piece in ring.newest(asked) for value in ring.columns["value"][piece].tolist()]
    assert newest == list(range(added))[added - min(asked, ring.size) :]


def test_empty_ring_says_what_to_do():
    with pytest.raises(EmptyBuffer, match="D_G is empty: observe transitions first"):
        experience().sample_into(torch.empty(4, 15), torch.Generator())


def test_full_global_buffer_stays_under_250_mb():
    full = Experience(Config(), Layout(20, 7), CPU)
    assert full.global_.capacity == 1_000_000
    assert sum(ring.nbytes for ring in full.rings().values()) < 250e6


def test_rows_keep_what_was_observed(transitions):
    held, batch = experience(), transitions(40, Origin.SOURCE)
    held.add(batch)
    used, layout = held.global_.used(), held.layout
    np.testing.assert_array_equal(layout.obs(used["row"]), batch.obs)
    np.testing.assert_array_equal(layout.obs_action(used["row"])[:, 5:], batch.action)
    np.testing.assert_array_equal(layout.next_obs(used["row"]), batch.next_obs)
    np.testing.assert_array_equal(layout.reward(used["row"]), batch.reward)
    np.testing.assert_array_equal(used["policy_version"].numpy().view(np.uint32), batch.policy_version)
    np.testing.assert_array_equal(used["domain_id"].numpy().view(np.uint32), batch.domain_id)
    assert (used["flags"] & TARGET == 0).all()


def test_only_the_tasks_own_end_stops_the_value(transitions):
    ends = np.array([[False, False], [True, False], [False, True], [True, True]])
    held = experience()
    held.add(transitions(4, terminated=ends[:, 0].copy(), truncated=ends[:, 1].copy()))
    used = held.global_.used()
    assert held.layout.continues(used["row"]).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert used["flags"].tolist() == [0, TERMINATED, TRUNCATED, TERMINATED | TRUNCATED]


def test_adaptation_sends_sources_to_global_and_target_to_local(transitions):
    held = experience(setting="domain_adaptation")
    held.add(transitions(50, Origin.SOURCE))
    held.add(transitions(15, Origin.TARGET))
    assert (held.global_.size, held.local.size, held.round_waits) == (50, 15, False)
    held.add(transitions(7, Origin.TARGET))
    assert (held.global_.size, held.local.size, held.round.size, held.round_waits) == (50, 2, 20, True)
    held.finish_round()
    assert (held.global_.size, held.local.size, held.round_waits) == (70, 2, False)
    assert held.seen == {Origin.SOURCE: 50, Origin.TARGET: 22, Origin.DEMONSTRATION: 0}


@pytest.mark.parametrize("setting", ["stationary", "non_stationary"])
@pytest.mark.parametrize("origin", [Origin.SOURCE, Origin.TARGET])
def test_one_environment_is_fresh_whoever_it_is(transitions, setting, origin):
    held = experience(setting=setting)
    held.add(transitions(25, origin))
    assert (held.global_.size, held.local.size, held.round.size) == (0, 5, 20)


@pytest.mark.parametrize("setting", ["domain_adaptation", "stationary", "non_stationary"])
@pytest.mark.parametrize("merge", ["round", "immediate"])
def test_demonstrations_are_history_and_nobodys_steps(transitions, setting, merge):
    held = experience(setting=setting, merge=merge)
    held.add(transitions(25, Origin.DEMONSTRATION))
    held.recall(transitions(15, Origin.DEMONSTRATION, seed=1))
    assert (held.global_.size, held.local.size, held.round.size) == (40, 0, 0)
    assert held.seen == {Origin.SOURCE: 0, Origin.TARGET: 0, Origin.DEMONSTRATION: 25}
    assert held.recalled == 0
    assert [len(held.places(origin)) for origin in Origin] == [0, 0, 40]
    assert held.initial.size == 5
    held.add(transitions(10, Origin.TARGET))
    assert held.initial.size == 1  # the target's own


def test_immediate_merge_gives_each_transition_to_both_once(transitions):
    held = experience(merge="immediate")
    held.add(transitions(25, Origin.TARGET))
    held.finish_round()
    assert (held.global_.size, held.local.size, held.round.size) == (25, 5, 20)


def test_rounds_by_period_keep_the_newest_fresh_transitions(transitions):
    held = experience(merge="immediate", round_period=8)
    held.add(transitions(50, Origin.SOURCE))
    for batch in range(6):
        rewards = np.arange(5, dtype=np.float32) + 5 * batch
        held.add(transitions(5, Origin.TARGET, reward=rewards))
        if batch in (1, 3, 5):
            assert held.round_waits
            found = held.layout.reward(held.round.used()["row"]).tolist()
            assert found == list(range(max(0, 5 * batch - 15), 5 * batch + 5))
            held.finish_round()
        assert not held.round_waits
    assert (held.global_.size, held.local.size) == (80, 20)


def test_rounds_nobody_used_are_merged_and_counted(transitions):
    held = experience()
    held.add(transitions(65, Origin.TARGET))  # three rounds at once, more than D_L holds
    assert (held.global_.size, held.local.size, held.rounds_skipped) == (40, 5, 2)


def test_initial_states_are_the_targets_as_soon_as_there_are_some(transitions):
    held = experience()
    source = transitions(20, Origin.SOURCE, seed=3)
    held.add(source)
    np.testing.assert_array_equal(held.initial.used()["obs"], source.obs[source.step == 0])
    target = transitions(10, Origin.TARGET, seed=4)
    held.add(target)
    held.add(source)
    np.testing.assert_array_equal(held.initial.used()["obs"], target.obs[target.step == 0])


def test_episodes_of_one_transition(transitions):
    held = experience()
    held.add(transitions(6, Origin.TARGET, step=np.zeros(6, np.uint32), terminated=np.ones(6, bool)))
    assert (held.initial.size, held.local.size) == (6, 6)
    assert held.layout.continues(held.local.used()["row"]).sum() == 0


def test_origins_can_be_sampled_apart(transitions):
    held = experience(algorithm="darc")
    held.add(transitions(30, Origin.SOURCE, reward=np.full(30, 1.0, np.float32)))
    out, rng = torch.empty(50, 15), torch.Generator().manual_seed(0)
    with pytest.raises(EmptyBuffer, match="no transition of the target"):
        held.sample_origin_into(out, Origin.TARGET, rng)
    held.add(transitions(10, Origin.TARGET, reward=np.full(10, 2.0, np.float32)))
    for origin, reward in ((Origin.SOURCE, 1.0), (Origin.TARGET, 2.0)):
        assert (held.layout.reward(held.sample_origin_into(out, origin, rng)) == reward).all()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("reward", np.full(3, np.nan, np.float32)),
        ("reward", np.full(3, np.inf, np.float32)),
        ("obs", np.zeros((3, 6), np.float32)),
        ("action", np.full((3, 2), 1.5, np.float32)),
        ("action", np.zeros((3, 3), np.float32)),
    ],
)
def test_bad_data_is_refused_by_name_and_nothing_enters(transitions, field, values):
    held, fields = experience(), {field: values}
    if field == "obs":
        fields["next_obs"] = values
    with pytest.raises(InvalidData) as refused:
        held.add(transitions(3, **fields))
    assert refused.value.field == field
    assert held.global_.size == held.local.size == held.initial.size == 0


def test_empty_batch_is_refused():
    nothing = np.zeros((0, 5), np.float32)
    ends, whole = np.zeros(0, bool), np.zeros(0, np.uint32)
    with pytest.raises(InvalidData, match="at least one each is needed"):
        Transitions(Origin.SOURCE, nothing, nothing, nothing[:, 0], nothing, ends, ends, whole, whole, whole)
