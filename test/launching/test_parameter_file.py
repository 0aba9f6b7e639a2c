"""A parameter file's entry reaches the nodes it means, however its key is spelled, or is refused with a sentence."""

import pytest
import yaml

from ompo_ros.launching.parameter_file import InvalidParameterFile, read_parameters
from ompo_ros.resources import settings_path
from ompo_ros.task.tasks import TASKS

LAUNCH = {"namespace": "ompo", "num_sources": "2"}


@pytest.fixture
def read(tmp_path):
    def read_text(text, **values):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return read_parameters(path, {**LAUNCH, **values})

    return read_text


def entry(key, parameters="arms: 4"):
    return f"{key}:\n  ros__parameters: {{{parameters}}}\n"


@pytest.mark.parametrize(
    "key",
    [
        "/**/source_collector",
        "/ompo/source_collector",
        "ompo/source_collector",
        "/*/source_collector",
        "source_collector",
        "/source_collector",
        "/**",
        "/ompo/**",
        "/ompo/*",
        "/**/source_collector_1",
        "/ompo/source_collector_1",
        "source_collector_1",
    ],
)
def test_a_numbered_source_is_reached_however_the_key_is_spelled(read, key):
    assert read(entry(key)).of("source_collector_1") == {"arms": 4}


def test_namespaces_may_be_nested(read):
    nested = (
        "ompo:\n  source_collector:\n    ros__parameters: {arms: 4}\n  learner:\n    ros__parameters: {warmup: 1}\n"
    )
    assert read(nested).of("source_collector_0") == {"arms": 4}
    assert read(nested).of("learner") == {"warmup": 1}


def test_a_longer_namespace_is_matched_word_by_word(read):
    for key in ("/lab/**/learner", "/lab/*/learner", "/lab/left/learner", "/**/left/learner"):
        assert read(entry(key, "warmup: 4"), namespace="/lab/left").of("learner")
    with pytest.raises(InvalidParameterFile, match="not in the namespace"):
        read(entry("/lab/learner", "warmup: 4"), namespace="lab/left")


def test_one_numbered_source_is_meant_and_no_other_node(read):
    file = read(entry("source_collector_1"))
    assert file.of("source_collector_0") == file.of("learner") == {}


def test_the_closest_entry_wins_and_of_two_alike_the_later(read):
    file = read(entry("source_collector_1", "arms: 1") + entry("/**/source_collector", "arms: 2") + entry("/**"))
    assert [file.of(f"source_collector_{i}")["arms"] for i in (0, 1)] == [2, 1]
    file = read(entry("source_collector", "arms: 1") + entry("/**/source_collector", "arms: 2, threads: 3"))
    assert file.of("source_collector_0") == {"arms": 2, "threads": 3}


def test_nested_names_are_joined_and_numbers_are_read_as_ros_reads_them(read):
    learning = "warmup: 1, pretrained: 1e, learning: {actor_lr: 1e-4, reward_scale: 2.5E+1, reward: raw}"
    assert read(entry("learner", learning)).of("learner") == {
        "warmup": 1,
        "pretrained": "1e",
        "learning.actor_lr": 1e-4,
        "learning.reward_scale": 25.0,
        "learning.reward": "raw",
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (entry("/**/sauce_collector"), r"/\*\*/sauce_collector is none of our nodes; did you mean source_collector\?"),
        (entry("learner", "warmpu: 5"), r"/learner has no parameter 'warmpu'; did you mean warmup\?"),
        (entry("learner", "warmup: -5"), r"/learner sets warmup: -5 is not within \[0, 1e\+09\]"),
        (entry("source_collector_1", "arm: 5"), r"/source_collector_1 has no parameter 'arm'; did you mean arms\?"),
        (entry("/**", "sped: 5"), r"/\*\* has no parameter 'sped'; "),
        (entry("/other/source_collector"), r"not in the namespace /ompo of this launch: write /\*\*/source_collector"),
        (entry("source_collector_2"), "not started: the last of 2 sources is source_collector_1"),
        ("source_collector: {arms: 4}\n", "/source_collector/arms needs a mapping with ros__parameters"),
        ("source_collector:\n  ros__parameters: 4\n", "/source_collector needs names and values under"),
        ("- 1\n", "it needs a mapping"),
        ("{", "is not YAML"),
    ],
)
def test_what_reaches_nobody_is_refused_with_a_sentence(read, text, sentence):
    with pytest.raises(InvalidParameterFile, match=rf"params_file .*mine.yaml.* {sentence}"):
        read(text)


def test_what_is_said_to_all_reaches_those_who_have_it(read):
    file = read(entry("/**", "speed_scale: 0.5"))
    assert file.of("policy_controller") == {"speed_scale": 0.5}
    assert file.of("learner") == {}


def test_what_the_launch_sets_is_refused_instead_of_lost(read):
    file = read(entry("target_collector", "speed_scale: 0.3, dry_run: true"))
    with pytest.raises(InvalidParameterFile, match=r"mine.yaml sets speed_scale of target_collector.*launch argument"):
        file.of("target_collector", besides={"speed_scale", "task"})
    assert file.of("target_collector", besides={"task"}) == {"speed_scale": 0.3, "dry_run": True}


def test_a_missing_file_is_refused_and_an_empty_one_says_nothing(read, tmp_path):
    with pytest.raises(InvalidParameterFile, match=r"none.yaml cannot be read: No such file"):
        read_parameters(tmp_path / "none.yaml", LAUNCH)
    assert read("# nothing yet\n").of("learner") == {}


def test_a_copy_beside_the_file_takes_the_place_of_what_it_names(read, tmp_path):
    text = entry("source_collector", "domain: /arms/worn.yaml, robot: fr3")
    assert read(text).of("source_collector_0") == {"domain": "/arms/worn.yaml", "robot": "fr3"}
    assert read(text).named_files() == [("domains", "/arms/worn.yaml")]
    copy = tmp_path / "config" / "domains" / "worn.yaml"
    copy.parent.mkdir(parents=True)
    copy.touch()
    assert read(text).of("source_collector_0") == {"domain": str(copy), "robot": "fr3"}


@pytest.mark.parametrize("task", TASKS)
def test_the_shipped_files_are_accepted(task):
    file = read_parameters(settings_path(task), LAUNCH)
    assert file.of("source_collector_1")["domain"] == "randomized"


def test_the_driver_of_an_fr3_takes_its_settings_from_the_file(read):
    assert read(entry("fci_driver", "load_mass: 0.7")).of("fci_driver") == {"load_mass": 0.7}


def test_the_shipped_files_differ_in_the_anchor_alone():
    reach, push = (yaml.safe_load(settings_path(task).read_text()) for task in TASKS)
    assert push["/**/learner"]["ros__parameters"]["learning"].pop("anchor") > 0.0
    assert push == reach
