"""Whatever a path or a file holds, reading it ends soon, in little memory, with text that is safe to print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from example_policies import make, make_tensors
from waiting import PATIENCE

from ompo_ros.policy import errors
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import MAX_BYTES, read_policy
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST

CLEAR_SCREEN = "\x1b[2J"


def ompo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ompo")
    return subprocess.run([command, "policy", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)


def sparse(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
    return path


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("make_path", [folder, fifo, sparse, lambda _: Path("/dev/zero")])
def test_what_is_no_policy_file_is_refused_without_reading_it(tmp_path, make_path):
    path = make_path(tmp_path / "policy.onnx")
    result = ompo("inspect", path)
    assert result.returncode == 1
    assert str(path) in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr


def test_the_largest_actor_fits_into_a_file_and_a_wider_one_is_refused():
    assert len(make(architecture="layernorm_tanh", hidden=1_024).onnx) < MAX_BYTES < 8_000_000
    with pytest.raises(errors.InvalidWeights, match="1 to 1024"):
        make(hidden=1_025)


@pytest.mark.parametrize(("low", "high"), [(-20.0, 80.0), (-90.0, 2.0), (2.0, -20.0)])
def test_a_policy_of_absurd_deviations_is_refused(low, high):
    limits = {"log_std_min": np.array(low, np.float32), "log_std_max": np.array(high, np.float32)}
    with pytest.raises(errors.InvalidWeights, match="log_std"):
        Actor(make_tensors() | limits)


def with_manifest(change) -> bytes:
    """A file whose manifest says something else, in the one form in which manifests are written."""
    model = onnx.load_from_string(make().onnx)
    document = json.loads(model.metadata_props[0].value)
    change(document)
    model.metadata_props[0].value = json.dumps(document, sort_keys=True)
    return model.SerializeToString()


def set_unit(document):
    document["contract"]["observation"][0]["unit"] = CLEAR_SCREEN


def set_software(document):
    document["software"][CLEAR_SCREEN] = "1"


def set_unknown_field(document):
    document[CLEAR_SCREEN] = 1


@pytest.mark.parametrize("change", [set_unit, set_software, set_unknown_field])
def test_no_control_character_of_a_manifest_reaches_a_terminal(tmp_path, change):
    path = tmp_path / "policy.onnx"
    path.write_bytes(with_manifest(change))
    with pytest.raises(errors.InvalidManifest) as caught:
        read_policy(path.read_bytes())
    assert str(caught.value).isprintable()
    result = ompo("inspect", path)
    assert result.returncode == 1
    assert "\x1b" not in result.stdout + result.stderr


def test_no_control_character_of_a_registry_reaches_a_terminal(tmp_path):
    registry = Registry(tmp_path / "registry")
    registry.add(make(), "MARK", channel=LATEST)
    registry.close()
    state = tmp_path / "registry" / "registry.json"
    state.write_text(state.read_text().replace("MARK", "\\u001b[2J"))
    result = ompo("list", "--registry", tmp_path / "registry")
    assert result.returncode == 0, result.stderr
    assert "[2J" in result.stdout
    assert "\x1b" not in result.stdout


def set_stamp(document):
    document["stamp"] = 1e300


def set_evaluation(document):
    document["evaluation"] = {"episodes": 10**400, "successes": 10**400, "mean_return": 0.0}


def set_updates(document):
    document["training"]["updates"] = -(10**400)


@pytest.mark.parametrize("change", [set_stamp, set_evaluation, set_updates])
def test_numbers_that_no_policy_has_are_refused(change):
    with pytest.raises(errors.InvalidManifest, match=change.__name__.removeprefix("set_")):
        read_policy(with_manifest(change))


def test_a_registry_is_listed_with_its_warnings(tmp_path):
    registry = Registry(tmp_path / "registry")
    registry.add(make(), "first", channel=LATEST)
    registry.close()
    (tmp_path / "registry" / "registry.json").unlink()
    result = ompo("list", "--registry", tmp_path / "registry")
    assert result.returncode == 0
    assert "registry.json is missing" in result.stderr


HOSTILE = """
import resource
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.artifact import MAX_BYTES, read_policy

def field(number, body):
    size, length = len(body), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes(length) + bytes([size]) + body

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

empty = bytes([5 << 3 | 2, 0]) * (MAX_BYTES // 2 - 20)  # initializers without content, the dearest of all to parse
before = peak()
for content in (field(7, empty), field(7, field(5, empty)), empty):
    try:
        read_policy(content)
    except RefusedPolicy:
        print(peak() - before)
"""


def test_a_file_that_is_dear_to_parse_is_refused_before_it_is_parsed():
    result = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=PATIENCE)
    grown = [int(line) for line in result.stdout.split()]
    assert len(grown) == 3, result.stderr
    assert max(grown) < 100_000, "kB"
