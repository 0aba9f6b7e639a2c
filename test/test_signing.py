"""Keys that only their owner can read, signatures that no other content shares, stamps that go up."""

import os
import stat

import pytest

from ompo_ros.signing import KeyFileError, Stamps, encode, key_from, new_key, read_key, signature, skew_problem


def test_a_new_key_is_its_owners_alone_and_is_never_overwritten(tmp_path):
    path = tmp_path / "key"
    old = os.umask(0)
    try:
        new_key(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = read_key(path)
    assert len(key) == 32
    with pytest.raises(KeyFileError, match="exists already"):
        new_key(path)
    assert read_key(path) == key
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path, mode):
    path = tmp_path / "key"
    new_key(path)
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_key(path)


@pytest.mark.parametrize("size", [0, 31, 5000])
def test_a_key_of_the_wrong_size_is_refused(tmp_path, size):
    path = tmp_path / "key"
    path.write_bytes(bytes(size))
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="ompo key new"):
        read_key(path)


def test_the_environment_names_the_key_or_there_is_none(tmp_path):
    new_key(tmp_path / "key")
    assert key_from({}) is None
    assert key_from({"OMPO_KEY_FILE": str(tmp_path / "key")}) == read_key(tmp_path / "key")
    with pytest.raises(KeyFileError, match="cannot be read"):
        key_from({"OMPO_KEY_FILE": str(tmp_path / "none")})


def test_fields_cannot_be_shifted_into_each_other():
    assert encode("ab", "c") != encode("a", "bc")
    assert encode("ab") != encode("a", "b")
    assert encode("", "a") != encode("a", "")


def test_signatures_depend_on_key_kind_and_every_field():
    key = bytes(32)
    signed = {
        signature(key, "Weights", "actor", 1),
        signature(key, "Policy", "actor", 1),
        signature(key, "Weights", "other", 1),
        signature(key, "Weights", "actor", 2),
        signature(bytes(31) + b"\1", "Weights", "actor", 1),
    }
    assert len(signed) == 5


def test_stamps_go_up_and_only_a_latched_message_comes_again():
    stamps = Stamps()
    accepts = lambda stamp, signed, may_repeat=True: not stamps.problem("actor", stamp, signed, may_repeat=may_repeat)  # noqa: E731
    assert accepts(5, b"a")
    assert accepts(5, b"a")
    assert not accepts(5, b"a", may_repeat=False)
    assert not accepts(5, b"b")
    assert not accepts(4, b"c")
    assert accepts(6, b"d")
    assert not stamps.problem("policy/stable", 1, b"e", may_repeat=True)


@pytest.mark.parametrize(("seconds", "fits"), [(0, True), (9, True), (-9, True), (11, False), (-11, False)])
def test_a_call_must_be_of_our_time(seconds, fits):
    now = 1_700_000_000 * 10**9
    assert (skew_problem(now + seconds * 10**9, now) == "") == fits
