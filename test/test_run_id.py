"""A run keeps its identity for as long as its folder is there, and shares it with no other."""

from ompo_ros.run_id import run_id_of


def test_a_folder_keeps_its_runs_identity_and_another_has_another(tmp_path):
    first = run_id_of(tmp_path / "first")
    assert run_id_of(tmp_path / "first") == first
    assert run_id_of(tmp_path / "second") != first
    assert len(first) == 16
