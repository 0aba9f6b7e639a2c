"""The registry keeps what it was given: through kills, damage, long runs and users' wishes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from example_policies import make

from ompo_ros.policy.errors import DamagedPolicy, RegistryError
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, MOVES_KEPT, STABLE
from ompo_ros.task.acting import Evaluation

POLICIES = {version: make(version) for version in range(1, 12)}


@pytest.fixture
def registry(tmp_path):
    registry = Registry(tmp_path, keep=3)
    yield registry
    registry.close()


def fill(registry: Registry, last: int) -> None:
    for version in range(1, last + 1):
        registry.add(POLICIES[version], f"number {version}", channel=LATEST)


def versions(registry: Registry) -> list[int]:
    return [entry.version for entry in registry.entries]


def file_of(tmp_path: Path, version: int) -> Path:
    (path,) = (tmp_path / "policies").glob(f"{version:010d}-*.onnx")
    return path


@pytest.mark.parametrize("mode", ["random", "lines"])
def test_survives_kill_9(tmp_path, mode):
    victim = Path(__file__).parents[1] / "support" / "registry_victim.py"
    result = subprocess.run([sys.executable, victim, mode, tmp_path], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "kill" in result.stdout


def test_comes_back_as_it_was(tmp_path, registry):
    fill(registry, 4)
    registry.move(STABLE, 3, "proven", pin=True)
    entries, moves = registry.entries, registry.moves
    registry.close()
    registry = Registry(tmp_path, keep=3)
    assert (registry.entries, registry.moves) == (entries, moves)
    assert (registry.active(LATEST), registry.active(STABLE), registry.pinned(STABLE)) == (4, 3, True)
    assert registry.load(3).onnx == POLICIES[3].onnx
    assert [(move.channel, move.previous, move.version, move.reason) for move in registry.moves[-2:]] == [
        (LATEST, 3, 4, "number 4"),
        (STABLE, 0, 3, "proven"),
    ]
    registry.close()


def test_disk_is_bounded_and_what_is_in_use_stays(tmp_path, registry):
    fill(registry, 2)
    registry.move(LATEST, 2, "held", pin=True)
    registry.move(STABLE, 1, "proven")
    fill(registry, 11)
    assert versions(registry) == [1, 2, 9, 10, 11]
    assert len(list((tmp_path / "policies").iterdir())) == 5
    assert registry.active(LATEST) == 2
    registry.move(STABLE, 9, "better")
    registry.add(make(12), "number 12", channel=LATEST)
    assert versions(registry) == [1, 2, 9, 10, 11, 12], "the former stable is needed to fall back"


def test_moves_are_bounded_for_each_channel_by_itself(registry):
    fill(registry, 2)
    registry.move(STABLE, 1, "first")
    for _ in range(MOVES_KEPT):
        registry.move(LATEST, 1, "to and fro")
    assert len(registry.moves) == MOVES_KEPT + 1
    assert registry.active(STABLE) == 1


def test_going_back_twice_goes_further_back(registry):
    fill(registry, 3)
    for version in (1, 2, 3):
        registry.move(STABLE, version, "better")
    for expected in (2, 1, 0):
        assert registry.former(STABLE) == expected
        if expected:
            registry.move(STABLE, expected, "back")


def test_an_evaluation_takes_its_place_without_a_second_copy(tmp_path, registry):
    fill(registry, 3)
    registry.add(POLICIES[2].evaluated(Evaluation(10, 9, 1.0)), "passed", channel=STABLE)
    assert versions(registry) == [1, 2, 3]
    assert registry.load(2).manifest.evaluation == Evaluation(10, 9, 1.0)
    assert (registry.active(LATEST), registry.active(STABLE)) == (3, 2)
    assert len(list((tmp_path / "policies").iterdir())) == 3


def test_a_version_can_be_learned_again_unless_it_is_relied_on(registry):
    fill(registry, 3)
    registry.move(STABLE, 1, "proven")
    again = make(3, architecture="layernorm_tanh")
    registry.add(again, "resumed", channel=LATEST)
    assert registry.load(3).onnx == again.onnx
    with pytest.raises(RegistryError, match="policy 1 is in use with other weights"):
        registry.add(make(1, architecture="layernorm_tanh"), "resumed", channel=LATEST)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_a_damaged_policy_is_named_and_takes_no_other_with_it(tmp_path, registry, damage):
    fill(registry, 3)
    registry.move(STABLE, 2, "proven")
    registry.move(STABLE, 3, "better")
    registry.close()
    damage(file_of(tmp_path, 3))
    registry = Registry(tmp_path, keep=3)
    assert "policy 3 is damaged" in registry.warnings[0]
    with pytest.raises(DamagedPolicy, match="policy 3"):
        registry.load(3)
    with pytest.raises(DamagedPolicy, match="policy 3"):
        registry.move(STABLE, 3, "try")
    assert (registry.active(LATEST), registry.active(STABLE)) == (2, 2)
    assert "policy 3 is damaged" in registry.moves[-1].reason
    assert registry.load(2).onnx == POLICIES[2].onnx
    registry.add(POLICIES[3], "sent again", channel=LATEST)
    assert registry.load(3).onnx == POLICIES[3].onnx
    registry.close()


@pytest.mark.parametrize("junk", [b"", b"{}", b"[1, 2]", b"\xff\xfe", b"[" * 100_000])
def test_without_its_state_the_policies_are_found_and_stable_must_be_earned_anew(tmp_path, registry, junk):
    fill(registry, 3)
    registry.move(STABLE, 2, "proven")
    registry.close()
    (tmp_path / "registry.json").write_bytes(junk)
    registry = Registry(tmp_path, keep=3)
    assert "damaged" in registry.warnings[0]
    assert versions(registry) == [1, 2, 3]
    assert (registry.active(LATEST), registry.active(STABLE)) == (3, 0)
    registry.close()


@pytest.mark.parametrize(("field", "value"), [("entries", 5), ("moves", [{"channel": "best"}]), ("surprise", 1)])
def test_a_foreign_state_is_refused_whole(tmp_path, registry, field, value):
    fill(registry, 2)
    registry.close()
    state = json.loads((tmp_path / "registry.json").read_text())
    (tmp_path / "registry.json").write_text(json.dumps({**state, field: value}))
    reader = Registry(tmp_path, read_only=True)
    assert field.rstrip("s") in reader.warnings[0]


def test_one_writes_and_many_read(tmp_path, registry):
    fill(registry, 2)
    with pytest.raises(RegistryError, match="in use"):
        Registry(tmp_path)
    reader = Registry(tmp_path, read_only=True)
    assert versions(reader) == [1, 2]
    with pytest.raises(RegistryError, match="reading only"):
        reader.move(LATEST, 1, "no")


def test_what_is_not_there_is_told(tmp_path, registry):
    fill(registry, 2)
    with pytest.raises(RegistryError, match="policy 7 is not in the registry; it holds: 1, 2"):
        registry.load(7)
    with pytest.raises(RegistryError, match="choose latest or stable"):
        registry.active("best")
    with pytest.raises(RegistryError, match="no registry"):
        Registry(tmp_path / "elsewhere", read_only=True)
    with pytest.raises(ValueError, match="at least 1"):
        Registry(tmp_path, keep=0)
