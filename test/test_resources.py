import pytest

import ompo_ros.resources
from ompo_ros.resources import resource_path


def test_finds_the_source_tree():
    assert resource_path("models/panda/panda.xml").is_file()
    assert resource_path("config/domains").is_dir()


@pytest.fixture
def installed_package(tmp_path, monkeypatch):
    """Let the module seem to lie in site-packages, with no data beside it."""
    monkeypatch.setattr(ompo_ros.resources, "__file__", str(tmp_path / "lib" / "ompo_ros" / "resources.py"))
    share = tmp_path / "prefix" / "share" / "ompo_ros"
    (share / "models").mkdir(parents=True)
    (share / "models" / "thing.xml").write_text("<x/>")
    return tmp_path


def test_finds_an_installation_by_its_prefix(installed_package, monkeypatch):
    monkeypatch.setattr("sys.prefix", str(installed_package / "prefix"))
    assert resource_path("models/thing.xml").read_text() == "<x/>"


def test_finds_a_sourced_workspace(installed_package, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{installed_package / 'prefix'}")
    assert resource_path("models/thing.xml").read_text() == "<x/>"


def test_says_where_it_looked(installed_package, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="/nowhere/share/ompo_ros"):
        resource_path("models/thing.xml")
