"""A registry touches only what is its own, and one bad moment of a disk costs nothing for good."""

import hashlib
import shutil
from pathlib import Path

import pytest
from example_policies import REACH, make

from ompo_ros.policy.errors import RegistryError
from ompo_ros.policy.gate import GateSettings
from ompo_ros.policy.keeper import PolicyKeeper
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, STABLE
from ompo_ros.resources import resource_path
from ompo_ros.task.acting import Evaluation

POLICIES = {version: make(version) for version in range(1, 8)}
FULL = Path("/dev/full")  # every write to it fails as on a full disk


@pytest.fixture
def folder(tmp_path):
    """Three policies; the second, once stable, was followed by the third, which a user holds."""
    folder = tmp_path / "registry"
    registry = Registry(folder, keep=3)
    for version in (1, 2, 3):
        registry.add(POLICIES[version], f"number {version}", channel=LATEST)
    registry.move(STABLE, 2, "proven")
    registry.move(STABLE, 3, "better", pin=True)
    registry.close()
    return folder


def file_of(folder: Path, version: int) -> Path:
    (path,) = (folder / "policies").glob(f"{version:010d}-*.onnx")
    return path


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def make_unreadable(path: Path) -> None:
    """A read error that root gets as well, and that passes when the file is put back."""
    path.unlink()
    path.symlink_to(path.name)


def opened(folder: Path, **options) -> Registry:
    registry = Registry(folder, keep=3, **options)
    registry.close()
    return registry


def test_without_registry_json_every_policy_is_found_again(folder):
    (folder / "registry.json").unlink()
    registry = opened(folder)
    assert "registry.json is missing" in registry.warnings[0]
    assert [entry.version for entry in registry.entries] == [1, 2, 3]
    assert registry.active(LATEST) == 3
    assert registry.load(2).onnx == POLICIES[2].onnx
    assert opened(folder).warnings == [], "the rebuilt state is on disk"


def test_a_reader_finds_them_too_and_writes_nothing(folder):
    (folder / "registry.json").unlink()
    before = names(folder)
    assert [entry.version for entry in opened(folder, read_only=True).entries] == [1, 2, 3]
    assert names(folder) == before


def test_a_damaged_registry_json_is_set_aside_not_overwritten(folder):
    (folder / "registry.json").write_bytes(b"half a sta")
    opened(folder)
    assert (folder / "registry.json.damaged").read_bytes() == b"half a sta"


def test_what_is_refused_while_rebuilding_is_set_aside_not_deleted(folder):
    damaged = file_of(folder, 2)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (folder / "registry.json").unlink()
    registry = opened(folder)
    assert [entry.version for entry in registry.entries] == [1, 3]
    assert damaged.name in "".join(registry.warnings)
    opened(folder)
    assert damaged.with_name(damaged.name + ".refused").is_file()


def test_the_best_policies_outlive_a_rebuilt_registry_until_one_is_stable_again(folder):
    registry = Registry(folder, keep=3)
    registry.add(POLICIES[1].evaluated(Evaluation(20, 19, 1.0)), "passed")
    registry.close()
    (folder / "registry.json").unlink()
    registry = Registry(folder, keep=1)
    for version in (4, 5, 6):
        registry.add(POLICIES[version], "new", channel=LATEST)
    assert [entry.version for entry in registry.entries] == [1, 6]
    registry.close()


def test_a_rebuild_is_refused_while_one_policy_cannot_be_read(folder):
    (folder / "registry.json").unlink()
    path = file_of(folder, 2)
    make_unreadable(path)
    before = names(folder)
    with pytest.raises(RegistryError, match=f"{path.name} cannot be read"):
        Registry(folder)
    assert names(folder) == before


def test_an_unreadable_registry_json_is_refused_and_kept(folder):
    truth = (folder / "registry.json").read_bytes()
    make_unreadable(folder / "registry.json")
    for read_only in (False, True):
        with pytest.raises(RegistryError, match=r"registry\.json cannot be read"):
            Registry(folder, read_only=read_only)
    (folder / "registry.json").unlink()
    (folder / "registry.json").write_bytes(truth)
    registry = opened(folder)
    assert (registry.active(STABLE), registry.pinned(STABLE)) == (3, True)


def test_a_registry_json_of_a_later_format_is_refused_and_kept(folder):
    later = (folder / "registry.json").read_bytes().replace(b'"format": 1', b'"format": 2')
    (folder / "registry.json").write_bytes(later)
    with pytest.raises(RegistryError, match="format 2"):
        Registry(folder)
    assert (folder / "registry.json").read_bytes() == later


def test_a_read_error_moves_no_channel(folder):
    path, content = file_of(folder, 3), POLICIES[3].onnx
    make_unreadable(path)
    registry = opened(folder)
    assert "policy 3 cannot be read now" in registry.warnings[0]
    with pytest.raises(RegistryError, match="policy 3 cannot be read now"):
        registry.load(3)
    path.unlink()
    path.write_bytes(content)
    registry = opened(folder)
    assert (registry.active(LATEST), registry.active(STABLE), registry.pinned(STABLE)) == (3, 3, True)
    assert registry.load(3).onnx == content


def test_a_server_does_not_open_a_registry_whose_stable_cannot_be_read(folder):
    make_unreadable(file_of(folder, 3))
    registry = opened(folder)
    with pytest.raises(RegistryError, match="policy 3 cannot be read now"):
        PolicyKeeper(registry, REACH, GateSettings())


def test_a_former_policy_that_cannot_be_read_is_passed_over(folder):
    registry = Registry(folder, keep=3)
    registry.move(STABLE, 1, "again")
    registry.move(STABLE, 3, "again")
    registry.close()
    make_unreadable(file_of(folder, 1))
    assert opened(folder).former(STABLE) == 2


@pytest.mark.parametrize("content", [["notes.txt"], ["policies/net.onnx"], ["policies/README.md", "panda/arm.xml"]])
def test_a_folder_with_other_files_is_refused_and_left_as_it_is(tmp_path, content):
    for name in content:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("somebody's")
    before = names(tmp_path)
    with pytest.raises(RegistryError, match="choose an empty or a new folder"):
        Registry(tmp_path)
    assert names(tmp_path) == before


def test_the_shipped_models_are_no_registry(tmp_path):
    models = tmp_path / "models"
    shutil.copytree(resource_path("models"), models)
    before = names(models)
    with pytest.raises(RegistryError, match="choose an empty or a new folder"):
        Registry(models)
    assert names(models) == before


def test_a_foreign_registry_json_is_refused_and_kept(tmp_path):
    (tmp_path / "registry.json").write_text('{"packages": []}')
    with pytest.raises(RegistryError, match=r"registry\.json is damaged or another program's"):
        Registry(tmp_path)
    assert names(tmp_path) == {"registry.json"}


def test_only_what_a_killed_writer_left_is_deleted(folder):
    policies = folder / "policies"
    sha = hashlib.sha256(b"").hexdigest()
    ours = {f"0000000009-{sha}.onnx", f".0000000009-{sha}.onnx.unfinished"}
    others = {"README.md", "best.onnx", f"9-{sha}.onnx", f"0000000009-{sha}.onnx.bak", ".hidden"}
    for name in ours | others:
        (policies / name).touch()
    (policies / "folder").mkdir()
    opened(folder)
    left = {path.name for path in policies.iterdir()}
    assert left == others | {"folder"} | {file_of(folder, version).name for version in (1, 2, 3)}


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device here that is always full")
@pytest.mark.parametrize("full", ["policy", "state"])
def test_a_full_disk_leaves_nothing_behind_and_the_registry_goes_on(folder, full):
    registry = Registry(folder, keep=3)
    before = names(folder)
    new = POLICIES[4]
    written = folder / "policies" / f"{4:010d}-{new.sha256}.onnx" if full == "policy" else folder / "registry.json"
    written.with_name(f".{written.name}.unfinished").symlink_to(FULL)
    with pytest.raises(OSError, match="No space left"):
        registry.add(new, "number 4", channel=LATEST)
    assert names(folder) == before
    assert (registry.active(LATEST), registry.load(3).onnx) == (3, POLICIES[3].onnx)
    registry.add(new, "number 4", channel=LATEST)
    assert registry.active(LATEST) == 4
    registry.close()
    assert opened(folder).active(LATEST) == 4


def test_a_reader_writes_no_policy(folder):
    before = names(folder)
    with pytest.raises(RegistryError, match="reading only"):
        opened(folder, read_only=True).add(POLICIES[4], "no")
    assert names(folder) == before


def test_reasons_are_cut_and_hold_no_control_characters(folder):
    registry = Registry(folder, keep=3)
    registry.move(STABLE, 1, "\x1b[2J" + "x" * 1_000_000)
    registry.add(POLICIES[4], "\x1b[2J" + "x" * 1_000_000)
    registry.close()
    for text in (registry.moves[-1].reason, registry.entries[-1].note):
        assert text.isprintable()
        assert len(text) < 1_000
    assert (folder / "registry.json").stat().st_size < 10_000
