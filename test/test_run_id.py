"""A run keeps its identity for as long as its folder is there, and shares it with no other."""

import yaml

from ompo_ros.run_id import new_run_id, run_id_of


def test_a_folder_keeps_its_runs_identity_and_another_has_another(tmp_path):
    first = run_id_of(tmp_path / "first")
    assert run_id_of(tmp_path / "first") == first
    assert run_id_of(tmp_path / "second") != first
    assert len(first) == 20


def test_no_identity_is_a_number_to_yaml(monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda size: "1" * 2 * size)
    assert isinstance(yaml.safe_load(new_run_id()), str)
