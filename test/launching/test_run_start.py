"""What a launch starts with: a new run's arguments and files are kept with it, a resumed run goes on with them."""

import json
from pathlib import Path

import pytest

from ompo_ros.launching.arguments import InvalidArgument
from ompo_ros.launching.parameter_file import InvalidParameterFile, read_parameters
from ompo_ros.launching.run_start import start_of
from ompo_ros.reporting.kept_files import CannotKeep
from ompo_ros.reporting.resumption import CannotResume
from ompo_ros.resources import resource_path

FILES = {
    "arm": resource_path("config/robots/panda.yaml").read_text(),
    "worn": resource_path("config/domains/paper.yaml").read_text(),
    "sources": resource_path("config/domains/randomized.yaml").read_text(),
}
ANOTHER_ARM = resource_path("config/robots/fr3.yaml").read_text()


@pytest.fixture
def values(tmp_path):
    """Arguments that name files of the user's, in three ways."""
    for name, content in FILES.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    params = tmp_path / "params.yaml"
    params.write_text(f"source_collector:\n  ros__parameters: {{domain: {tmp_path / 'sources.yaml'}}}\n")
    return {
        "task": "reach",
        "role": "all",
        "resume": "false",
        "run_id": "auto",
        "target": "mujoco",
        "driver": "",
        "pretrained": "auto",
        "warm_start": "",
        "demonstrations": "",
        "namespace": "ompo",
        "num_sources": "1",
        "target_steps": "300",
        "run_dir": str(tmp_path / "run"),
        "robot": str(tmp_path / "arm.yaml"),
        "target_domain": str(tmp_path / "worn.yaml"),
        "params_file": str(params),
    }


def begin(values, **given):
    return start_of({**values, **given}, set(given))


def resume(values, folder, **given):
    """As a user does who gives nothing but the folder."""
    (folder / "checkpoints").mkdir(exist_ok=True)
    defaults = {"robot": "panda", "target_domain": "creeping", "params_file": "/share/adapt.yaml"}
    return start_of(
        {**values, **defaults, "run_dir": str(folder), "resume": "true", **given}, {"run_dir", "resume", *given}
    )


def files_used(values):
    """The content of all files that a launch with these values reads."""
    of_sources = read_parameters(Path(values["params_file"]), values).of("source_collector_0")
    paths = [values["robot"], values["target_domain"], of_sources["domain"]]
    return [Path(path).read_text() for path in paths]


def test_a_run_uses_its_copies_of_the_users_files(values, tmp_path):
    run = begin(values).values
    for name in ("arm", "worn", "sources", "params"):
        (tmp_path / f"{name}.yaml").unlink()
    assert files_used(run) == list(FILES.values())
    assert Path(run["robot"]).name == "arm.yaml", "the file's name is the robot's"


def test_a_resumed_run_uses_them_too_wherever_its_folder_is_now(values, tmp_path):
    began = begin(values).values
    for name in ("arm", "worn", "sources", "params"):
        (tmp_path / f"{name}.yaml").write_text("{}\n")
    folder = Path(began["run_dir"]).rename(tmp_path / "moved")
    resumed = resume(values, folder).values
    assert files_used(resumed) == list(FILES.values())
    assert resumed["run_id"] == began["run_id"] != ""


def test_a_file_given_again_is_compared_by_what_it_says(values, tmp_path):
    folder = Path(begin(values).values["run_dir"])
    assert resume(values, folder, robot=values["robot"]).lines == []
    (tmp_path / "arm.yaml").write_text(ANOTHER_ARM)
    with pytest.raises(CannotResume, match=r"robot:=.*arm.yaml differs from .*run/config/robots/arm.yaml"):
        resume(values, folder, robot=values["robot"])
    with pytest.raises(CannotResume, match="robot:=fr3 does not fit"):
        resume(values, folder, robot="fr3")


def test_names_of_the_package_are_kept_as_they_are(values, tmp_path):
    run = begin(values, robot="fr3", target_domain="paper").values
    assert (run["robot"], run["target_domain"]) == ("fr3", "paper")
    assert not (tmp_path / "run" / "config" / "robots").exists()


def test_two_files_of_one_name_are_refused(values, tmp_path):
    other = tmp_path / "other" / "sources.yaml"
    other.parent.mkdir()
    other.write_text(FILES["sources"])
    with pytest.raises(CannotKeep, match=r"sources.yaml and .*sources.yaml have the same name: rename one"):
        begin(values, target_domain=str(other))


def test_a_refused_parameter_file_leaves_nothing(values, tmp_path):
    Path(values["params_file"]).write_text("sauce_collector:\n  ros__parameters: {arms: 4}\n")
    with pytest.raises(InvalidParameterFile):
        begin(values)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"robot": "pandas"}, r"robot:=pandas is not possible; .* did you mean panda\?"),
        (
            {"robot": "panda", "driver": "ros2_contrl"},
            r"driver:=ros2_contrl is .* did you mean ros2_control\?",
        ),
        ({"target_domain": "creepin"}, r"target_domain:=creepin is not possible; .* did you mean creeping\?"),
        ({"pretrained": "nothing"}, "pretrained:=nothing is no file"),
        ({"demonstrations": "no.mcap"}, "demonstrations:=no.mcap is not possible; there is no no.mcap"),
        ({"warm_start": "nothing.mcap"}, "warm_start:=nothing.mcap is not possible; there is no nothing.mcap"),
        ({"target": "panda_gym", "target_domain": "hidden"}, "target_domain:=hidden is not possible; PyBullet cannot"),
    ],
)
def test_a_name_that_leads_to_no_file_leaves_nothing(values, tmp_path, given, said):
    with pytest.raises(InvalidArgument, match=said):
        begin(values, **given)
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_a_file_is_refused_by_its_line(values, tmp_path):
    (tmp_path / "worn.yaml").write_text("parametres:\n  gravity: 9\n")
    with pytest.raises(InvalidArgument, match=r"worn.yaml:1: unknown name 'parametres'; did you mean parameters\?"):
        begin(values)
    (tmp_path / "worn.yaml").write_text(FILES["worn"])
    (tmp_path / "sources.yaml").write_text("drift: {gravty: 1}\n")
    with pytest.raises(InvalidParameterFile, match=r"/source_collector: .*sources.yaml:1: unknown name 'gravty'"):
        begin(values)


def test_a_start_that_was_refused_is_repeated_with_the_corrected_file(values, tmp_path):
    begin(values)
    (tmp_path / "arm.yaml").write_text(ANOTHER_ARM)
    assert files_used(begin(values).values)[0] == ANOTHER_ARM


def test_a_folder_holds_one_run(values, tmp_path):
    with pytest.raises(RuntimeError, match="no run to resume"):
        begin(values, resume="true")
    begin(values)
    (tmp_path / "run" / "checkpoints").mkdir()
    with pytest.raises(RuntimeError, match="resume:=true"):
        begin(values)


def test_what_a_rehearsal_refuses_leaves_nothing(values, tmp_path):
    def refuse(_):
        raise InvalidParameterFile("no")

    with pytest.raises(InvalidParameterFile):
        start_of(values, set(), refuse)
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_written_among_other_files_nor_where_nothing_can_be_written(values, tmp_path):
    (tmp_path / "run").mkdir()
    begin(values)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(InvalidArgument, match=r"run_dir:=.*other holds other files and no run: give a new or an empty"):
        begin(values, run_dir=str(other))
    with pytest.raises(InvalidArgument, match=r"run_dir:=.*thesis.tex/run cannot be written: "):
        begin(values, run_dir=str(other / "thesis.tex" / "run"))


def test_another_role_in_the_same_folder_leaves_the_runs_arguments(values, tmp_path):
    begin(values, role="learner")
    began = (tmp_path / "run" / "launch.json").read_bytes()
    begin(values, role="target", robot="fr3")
    assert (tmp_path / "run" / "launch.json").read_bytes() == began
    assert json.loads(began)["role"] == "learner"


@pytest.mark.parametrize(("role", "run_id", "has_one"), [("all", "auto", True), ("learner", "auto", False)])
def test_an_identity_is_drawn_only_where_one_launch_starts_all(values, role, run_id, has_one):
    assert bool(begin(values, role=role, run_id=run_id).values["run_id"]) is has_one
    assert begin(values, role=role, run_id="mine").values["run_id"] == "mine"
