"""What deploy.launch.py runs, and what it says where there is nothing to run; nothing is made or changed."""

import pytest
from shipped_policy import shipped_policy

from ompo_ros.launching.deployment import deployment_of
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, STABLE


def chosen(**values: object) -> dict[str, str]:
    defaults = {"policy": "auto", "registry_dir": "", "task": "reach", "reward": "dense", "robot": "panda"}
    return {name: str(value) for name, value in {**defaults, **values}.items()}


@pytest.fixture
def run_dir(tmp_path):
    """A run whose policy is the latest, and stable to nobody."""
    registry = Registry(tmp_path / "run" / "policies")
    registry.add(shipped_policy(4), "learned", channel=LATEST)
    registry.close()
    return tmp_path / "run"


@pytest.mark.parametrize("robot", ["panda", "fr3"])
@pytest.mark.parametrize("task", ["reach", "push"])
def test_without_arguments_the_shipped_policy_of_robot_and_task_is_run(robot, task):
    deployment = deployment_of(chosen(robot=robot, task=task))
    assert deployment.policy.endswith(f"models/policies/{robot}_{task}.onnx")
    assert (deployment.registry_dir, deployment.runs_alone) == ("", True)


def test_a_server_elsewhere_is_followed_only_where_that_is_asked_for():
    deployment = deployment_of(chosen(policy="stable"))
    assert (deployment.policy, deployment.registry_dir, deployment.runs_alone) == ("", "", False)


def test_a_file_is_found_and_a_missing_one_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.onnx").write_bytes(shipped_policy(4).onnx)
    assert deployment_of(chosen(policy="mine.onnx")).policy == str(tmp_path / "mine.onnx")
    with pytest.raises(RuntimeError, match=r"there is no .*other\.onnx"):
        deployment_of(chosen(policy="other.onnx"))
    with pytest.raises(RuntimeError, match=r"mine\.onnx cannot be run: policy 4 .*: robot is 'panda' instead of 'fr3'"):
        deployment_of(chosen(policy="mine.onnx", robot="fr3"))
    (tmp_path / "text.onnx").write_text("no policy")
    with pytest.raises(RuntimeError, match=r"text\.onnx cannot be run: "):
        deployment_of(chosen(policy="text.onnx"))
    with pytest.raises(RuntimeError, match="choose one"):
        deployment_of(chosen(policy="mine.onnx", registry_dir=tmp_path))


def test_a_folder_that_holds_nothing_is_refused_and_not_made(tmp_path):
    for folder in (tmp_path / "missing", tmp_path):
        with pytest.raises(RuntimeError, match="give the folder `policies` of a finished run"):
            deployment_of(chosen(registry_dir=folder))
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_taken_for_its_policies_and_one_without_a_stable_policy_says_how_to_get_one(run_dir):
    with pytest.raises(RuntimeError, match=f"did you mean registry_dir:={run_dir}/policies"):
        deployment_of(chosen(registry_dir=run_dir))
    with pytest.raises(RuntimeError, match=r"is stable \(it holds: 4\).*ompo policy activate VERSION --registry"):
        deployment_of(chosen(registry_dir=run_dir / "policies"))
    registry = Registry(run_dir / "policies")
    registry.move(STABLE, 4, "good enough")
    registry.close()
    assert deployment_of(chosen(registry_dir=run_dir / "policies")).registry_dir == str(run_dir / "policies")
    with pytest.raises(RuntimeError, match=r"stable policy of .* cannot be run: policy 4 was not made for this arm"):
        deployment_of(chosen(registry_dir=run_dir / "policies", robot="fr3"))
