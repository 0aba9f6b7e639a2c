import numpy as np
import pytest

from ompo_ros.resources import resource_path
from ompo_ros.sim.distributions import Choice, Constant, LogUniform, Normal, Uniform
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.sim.parameters import COLUMN_COUNT, COLUMN_NAMES, PARAMETERS, DomainValues
from ompo_ros.task.config_file import ConfigFileError

SHIPPED = sorted(path.stem for path in resource_path("config/domains").glob("*.yaml"))


def write(tmp_path, text):
    path = tmp_path / "domain.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_domain_loads(name):
    assert load_domain(name).name == name


def test_the_randomized_source_touches_every_parameter():
    assert set(load_domain("randomized").changed) == set(PARAMETERS)


def test_all_forms_are_read(tmp_path):
    domain = load_domain(
        write(
            tmp_path,
            """
parameters:
  payload_mass: 1.5
  friction_loss: [1, 2, 3, 4, 5, 6, 7]
  gravity: {uniform: [9, 10]}
  armature_scale: {log_uniform: [0.5, 2], shared: true}
  link_mass_scale: {normal: [1, 0.1]}
  action_gain: {normal: [[1, 2, 1, 1, 1, 1, 1], 0.1], within: [0.9, 3]}
  stiffness_scale: {uniform: [[1, 1, 1, 1, 1, 1, 0.5], 2]}
  command_delay: {choice: [0, 2]}
drift:
  action_bias:
    sine: {mean: 0, amplitude: 0.2, rate: 0.5}
    noise: {uniform: [-0.1, 0.1], over: steps}
simulator: {timestep: 0.001, integrator: rk4}
""",
        )
    )
    assert domain.drawn["payload_mass"].distribution == Constant(1.5)
    assert domain.drawn["friction_loss"].distribution == Constant((1, 2, 3, 4, 5, 6, 7))
    assert domain.drawn["gravity"].distribution == Uniform(9, 10)
    assert domain.drawn["armature_scale"].shared
    assert domain.drawn["armature_scale"].distribution == LogUniform(0.5, 2)
    assert domain.drawn["link_mass_scale"].distribution == Normal(1, 0.1)
    assert domain.drawn["action_gain"].distribution == Normal((1, 2, 1, 1, 1, 1, 1), 0.1, 0.9, 3)
    assert domain.drawn["stiffness_scale"].distribution == Uniform((1, 1, 1, 1, 1, 1, 0.5), 2)
    assert domain.drawn["command_delay"].distribution == Choice((0, 2))
    assert domain.drift["action_bias"].draws_each_step
    assert domain.simulator.timestep == 0.001
    assert domain.simulator.integrator == "rk4"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("parameters:\n  gravity: 9\n  payload: 1\n", 3, "unknown name 'payload'"),
        ("parametres:\n  gravity: 9\n", 1, "unknown name 'parametres'"),
        ("parameters:\n  gravity: 9\n  gravity: 8\n", 3, "twice"),
        ("parameters:\n  gravity: {uniform: [10, 9]}\n", 2, "empty"),
        ("parameters:\n  payload_mass:\n    uniform: [-1, 2]\n", 3, "must stay in"),
        ("parameters:\n  payload_mass: {normal: [1, 1]}\n", 2, "must stay in"),
        ("parameters:\n  payload_mass: {log_uniform: [0, 1]}\n", 2, "log_uniform needs"),
        ("parameters:\n  gravity: {normal: [9, -1]}\n", 2, "negative"),
        ("parameters:\n  gravity: .nan\n", 2, "finite number"),
        ("parameters:\n  gravity: heavy\n", 2, "finite number"),
        ("parameters:\n  gravity: [1, 2]\n", 2, "1 numbers are needed"),
        ("parameters:\n  friction_loss: [1, 2]\n", 2, "7 numbers are needed"),
        ("parameters:\n  gravity: {uniform: [9, 10], normal: [9, 1]}\n", 2, "exactly one"),
        ("parameters:\n  gravity: {triangle: [9, 10]}\n", 2, "unknown name 'triangle'"),
        ("parameters:\n  gravity: {uniform: [9]}\n", 2, "2 entries"),
        ("parameters:\n  action_gain: {uniform: [[1, 2], 3]}\n", 2, "7 numbers are needed"),
        ("parameters:\n  gravity: {uniform: [9, 10], within: [9, 10]}\n", 2, "within"),
        ("parameters:\n  gravity: {normal: [9, 1], within: [10, 11]}\n", 2, "outside"),
        ("parameters:\n  command_delay: 0.5\n", 2, "whole number"),
        ("parameters:\n  command_delay: {uniform: [0, 2]}\n", 2, "whole number"),
        ("parameters:\n  command_delay: {choice: []}\n", 2, "at least one"),
        ("drift:\n  gravity:\n    sine: {mean: 10, amplitude: 60, rate: 1}\n", 3, "must stay in"),
        ("drift:\n  gravity:\n    sine: {mean: 10, amplitude: 1}\n", 3, "rate missing"),
        ("drift:\n  gravity:\n    over: weeks\n    ramp: {from: 9, to: 10, begin: 0, end: 9}\n", 3, "episodes, steps"),
        ("drift:\n  gravity:\n    ramp: {from: 9, to: 10, begin: 9, end: 9}\n", 3, "begin before"),
        ("drift:\n  gravity:\n    jumps: {at: [5], values: [9]}\n", 3, "separate 2 values"),
        ("drift:\n  gravity:\n    jumps: {at: [5, 5], values: [9, 8, 9]}\n", 3, "rising order"),
        ("drift:\n  command_delay:\n    ramp: {from: 0, to: 2, begin: 0, end: 9}\n", 3, "whole number"),
        ("drift:\n  command_delay:\n    jumps: {at: [1], values: [0, 0.5]}\n", 3, "whole number"),
        ("parameters:\n  gravity: 9\ndrift:\n  gravity:\n    jumps: {at: [1], values: [9, 8]}\n", 5, "under both"),
        ("simulator:\n  timestep: 0.003\n", 2, "divide the control period"),
        ("simulator:\n  timestep: 0\n", 2, "divide the control period"),
        ("simulator:\n  integrator: magic\n", 2, "magic"),
        ("- gravity\n", 1, "mapping"),
    ],
)
def test_nonsense_is_refused_at_its_line(tmp_path, text, line, problem):
    path = write(tmp_path, text)
    with pytest.raises(ConfigFileError) as refusal:
        load_domain(path)
    assert str(refusal.value).startswith(f"{path}:{line}:")
    assert problem in str(refusal.value)


@pytest.mark.parametrize("text", ["", "a: [", "\x00"])
def test_what_is_no_yaml_mapping_is_refused_by_name(tmp_path, text):
    with pytest.raises(ConfigFileError, match=r"domain\.yaml"):
        load_domain(write(tmp_path, text))


def test_a_missing_file_or_name_says_what_there_is(tmp_path):
    with pytest.raises(ConfigFileError, match="cannot be read"):
        load_domain(tmp_path / "none.yaml")
    with pytest.raises(ConfigFileError, match="randomized"):
        load_domain("no_such_domain")


def test_each_joint_has_its_own_distribution_and_keeps_within():
    normal = Normal((1.0, 2.0), (0.0, 0.5), 0.5, 2.2)
    values = normal.values(np.zeros((400, 2)), np.random.default_rng(0).standard_normal((400, 2)))
    assert (values[:, 0] == 1.0).all()
    assert values[:, 1].max() == 2.2
    assert values[:, 1].min() < 1.2
    uniform = Uniform((0.0, 5.0), (1.0, 6.0)).values(np.full((1, 2), 0.5), np.zeros((1, 2)))
    np.testing.assert_array_equal(uniform, [[0.5, 5.5]])


@pytest.mark.parametrize("name", [name for name in SHIPPED if not load_domain(name).drift])
def test_what_is_written_is_what_is_read(name, tmp_path):
    domain = load_domain(name)
    write_domain(domain, tmp_path / f"{name}.yaml", "a comment\nof two lines")
    assert load_domain(tmp_path / f"{name}.yaml") == domain


def test_a_domain_that_drifts_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="drifts"):
        write_domain(load_domain("drifting"), tmp_path / "drifting.yaml")


def test_draws_stay_in_range_and_differ_between_joints():
    domain = load_domain("randomized")
    values = DomainValues(500)
    generator = np.random.default_rng(0)
    uniform, normal = generator.random((500, COLUMN_COUNT)), generator.standard_normal((500, COLUMN_COUNT))
    domain.draw(values, np.arange(500), uniform, normal)
    for name, drawn in domain.drawn.items():
        low, high = drawn.distribution.support
        column = values[name]
        assert column.min() >= low
        assert column.max() <= high
        if not isinstance(drawn.distribution, Constant):
            assert len(np.unique(column[:, 0])) > 1
    assert (values["stiffness_scale"] == values["stiffness_scale"][:, :1]).all()
    assert (values["action_gain"][:, 0] != values["action_gain"][:, 1]).any()
    spread = values["payload_mass"].max() - values["payload_mass"].min()
    assert spread > 0.95 * 1.5


def test_every_value_has_a_name():
    values = DomainValues(2)
    assert len(COLUMN_NAMES) == len(set(COLUMN_NAMES)) == values.table.shape[1]
    assert values.of_arm(1)["gravity"] == 9.81
    assert values.of_arm(1)["friction_loss"] == [0.0] * 7
