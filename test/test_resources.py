import pytest

import ompo_ros.resources
from ompo_ros.resources import resource_path


def test_finds_the_source_tree():
    assert resource_path("models/panda/panda.xml").is_file()
    assert resource_path("config/domains").is_dir()


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """Let the module seem to be installed under a prefix of its own, while other installations are in sight."""
    module = tmp_path / "own" / "lib" / "python3.12" / "site-packages" / "ompo_ros" / "resources.py"
    monkeypatch.setattr(ompo_ros.resources, "__file__", str(module))
    for name in ("own", "other"):
        models = tmp_path / name / "share" / "ompo_ros" / "models"
        models.mkdir(parents=True)
        (models / "thing.xml").write_text(name)
    monkeypatch.setattr("sys.prefix", str(tmp_path / "other"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "other"))
    return tmp_path / "own"


def test_an_installation_finds_its_own_files_and_not_those_of_another(prefix):
    assert resource_path("models/thing.xml").read_text() == "own"


def test_says_where_it_looked(prefix):
    (prefix / "share" / "ompo_ros" / "models" / "thing.xml").unlink()
    with pytest.raises(FileNotFoundError, match="/own/share/ompo_ros"):
        resource_path("models/thing.xml")
