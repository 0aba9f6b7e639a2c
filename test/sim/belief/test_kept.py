"""A belief that is kept in a file and continued by another process."""

import hashlib
import io

import numpy as np
import pytest
from target_runs import TASK, play

from ompo_ros.sim.belief import Belief, kept
from ompo_ros.sim.belief.coordinates import SIZE

HIDDEN = """parameters:
  payload_mass: 1.2
  action_bias: [0.5, -0.4, 0.3, -0.5, 0.4, 0.2, -0.3]
"""


@pytest.fixture(scope="module")
def episodes(tmp_path_factory):
    path = tmp_path_factory.mktemp("hidden") / "hidden.yaml"
    path.write_text(HIDDEN)
    return play(path, 150)


@pytest.fixture(scope="module")
def left(episodes, tmp_path_factory):
    """A belief of the first two episodes, and the file it left."""
    path = tmp_path_factory.mktemp("left") / "belief.npz"
    belief = new()
    for episode in episodes[:2]:
        belief.observe(episode)
    belief.fit()
    kept.keep(belief, path)
    return belief, path


def new():
    return Belief(TASK, "randomized", 0)


def test_who_continues_it_believes_the_same(left):
    belief, path = left
    again = new()
    kept.restore(again, path)
    assert again.domain == belief.domain
    assert (again.target_steps, again.fitted_steps, again.fits) == (100, 100, 1)
    assert again.prediction_error == belief.prediction_error


def test_a_fit_after_it_is_as_good_as_without_an_interruption(left, episodes):
    _, path = left
    again, whole = new(), new()
    kept.restore(again, path)
    for belief, rest in ((whole, episodes[:2]), (whole, episodes[2:]), (again, episodes[2:])):
        for episode in rest:
            belief.observe(episode)
        belief.fit()
    assert again.target_steps == whole.target_steps == 150
    np.testing.assert_allclose(again.mean, whole.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(again.deviation, whole.deviation, rtol=1e-6)
    assert again.prediction_error.belief == pytest.approx(whole.prediction_error.belief)


def test_evidence_that_is_not_fitted_yet_is_kept_too(episodes, tmp_path):
    belief, again = new(), new()
    belief.observe(episodes[0])
    kept.keep(belief, tmp_path / "belief.npz")
    kept.restore(again, tmp_path / "belief.npz")
    assert (again.target_steps, again.is_known) == (50, False)
    assert again.fit()


def saved(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue() + hashlib.sha256(content.getvalue()).digest()


def changed(path, **changes):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return saved(**{name: value for name, value in {**arrays, **changes}.items() if value is not None})


@pytest.mark.parametrize(
    "content",
    [
        lambda path: b"",
        lambda path: path.read_bytes()[:-1000],
        lambda path: bytes(a ^ (b == 5000) for b, a in enumerate(path.read_bytes())),
        lambda path: saved(other=np.zeros(3)),
        lambda path: changed(path, state=None),
        lambda path: changed(path, means=np.full((3, SIZE), np.nan)),
        lambda path: changed(path, losses=np.full(3, np.nan)),
        lambda path: changed(path, command=np.zeros((99, 7))),
        lambda path: changed(path, seen=np.array(3)),
        lambda path: changed(path, step=np.array(["a"] * 100)),
        lambda path: changed(path, step=np.array([None] * 100)),
    ],
    ids=["empty", "cut", "a bit", "other", "lacks", "nan", "no loss", "shorter", "seen", "text", "pickled"],
)
def test_a_damaged_file_is_refused_and_changes_nothing(left, episodes, tmp_path, content):
    path = tmp_path / "belief.npz"
    path.write_bytes(content(left[1]))
    belief = new()
    belief.observe(episodes[0])
    with pytest.raises(kept.UnusableBelief, match=r"belief\.npz"):
        kept.restore(belief, path)
    assert (belief.target_steps, belief.is_known) == (50, False)


def test_no_bit_of_the_file_may_be_another(episodes, tmp_path):
    belief, path = new(), tmp_path / "belief.npz"
    belief.observe(episodes[0])
    kept.keep(belief, path)
    sound = path.read_bytes()
    for place in range(0, 8 * len(sound), 331):  # all eight bits of a byte in turn
        damaged = bytearray(sound)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(kept.UnusableBelief, match="damaged"):
            kept.restore(belief, path)
    path.write_bytes(sound)
    kept.restore(belief, path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(kept.UnusableBelief, match="No such file"):
        kept.restore(new(), tmp_path / "belief.npz")
