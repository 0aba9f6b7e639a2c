"""Substitutions and conditions, worked out in a context without a launch."""

import sys

import pytest
from launch import LaunchContext
from launch.conditions import IfCondition, LaunchConfigurationEquals, LaunchConfigurationNotEquals, UnlessCondition
from launch.substitutions import (
    AllSubstitution,
    AndSubstitution,
    AnySubstitution,
    Command,
    EnvironmentVariable,
    EqualsSubstitution,
    FindExecutable,
    IfElseSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
    PathJoinSubstitution,
    PythonExpression,
    SubstitutionFailure,
    TextSubstitution,
    ThisLaunchFileDir,
)
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@pytest.fixture
def context(monkeypatch):
    monkeypatch.setenv("LAUNCH_TEST_VARIABLE", "from the environment")
    context = LaunchContext()
    context.launch_configurations.update({"robot": "panda", "name_of": "robot", "yes": "true", "rate": "25"})
    return context


@pytest.mark.parametrize(
    ("substitution", "text"),
    [
        (TextSubstitution(text="as it stands"), "as it stands"),
        (LaunchConfiguration("robot"), "panda"),
        (LaunchConfiguration([LaunchConfiguration("name_of")]), "panda"),
        (LaunchConfiguration("absent", default="fr3"), "fr3"),
        (LaunchConfiguration("absent", default=["a", LaunchConfiguration("robot")]), "apanda"),
        (PathJoinSubstitution(["share", LaunchConfiguration("robot"), "x.yaml"]), "share/panda/x.yaml"),
        (EnvironmentVariable("LAUNCH_TEST_VARIABLE"), "from the environment"),
        (EnvironmentVariable("LAUNCH_TEST_ABSENT", default_value="none"), "none"),
        (
            PythonExpression(
                ["'", LaunchConfiguration("robot"), "' == 'panda' and ", LaunchConfiguration("rate"), " > 20"]
            ),
            "True",
        ),
        (PythonExpression(["math.floor(", LaunchConfiguration("rate"), " / 2)"]), "12"),
        (PythonExpression(["sys.maxsize > 0"], ["sys"]), "True"),
        (NotSubstitution(LaunchConfiguration("yes")), "false"),
        (AndSubstitution(LaunchConfiguration("yes"), "false"), "false"),
        (AndSubstitution(LaunchConfiguration("yes"), "true"), "true"),
        (OrSubstitution("false", LaunchConfiguration("yes")), "true"),
        (OrSubstitution("false", "false"), "false"),
        (AnySubstitution("false", "false", "true"), "true"),
        (AllSubstitution("true", "true", "false"), "false"),
        (EqualsSubstitution(LaunchConfiguration("robot"), "panda"), "true"),
        (EqualsSubstitution(LaunchConfiguration("robot"), "fr3"), "false"),
        (NotEqualsSubstitution(LaunchConfiguration("robot"), "fr3"), "true"),
        (NotEqualsSubstitution(LaunchConfiguration("robot"), "panda"), "false"),
        (IfElseSubstitution(LaunchConfiguration("yes"), if_value="on", else_value="off"), "on"),
        (IfElseSubstitution("false", if_value="on", else_value=LaunchConfiguration("robot")), "panda"),
        (Command([sys.executable, " -c 'print(1 + 1)'"]), "2\n"),
    ],
)
def test_becomes_text(context, substitution, text):
    assert substitution.perform(context) == text


@pytest.mark.parametrize(
    ("substitution", "what_is_wrong"),
    [
        (LaunchConfiguration("absent"), "absent"),
        (EnvironmentVariable("LAUNCH_TEST_ABSENT"), "LAUNCH_TEST_ABSENT"),
        (FindExecutable(name="no_such_program_anywhere"), "not found on the PATH"),
        (NotSubstitution("perhaps"), "perhaps"),
        (Command([sys.executable, " -c 'raise SystemExit(3)'"]), "3"),
    ],
)
def test_failure_names_what_is_wrong(context, substitution, what_is_wrong):
    with pytest.raises(SubstitutionFailure, match=what_is_wrong):
        substitution.perform(context)


def test_executable_is_found_on_the_path(context, tmp_path, monkeypatch):
    program = tmp_path / "my_program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FindExecutable(name="my_program").perform(context) == str(program)


def test_folder_of_the_launch_file_is_unknown_outside_of_one(context):
    with pytest.raises(Exception, match=r"(?i)launch file"):
        ThisLaunchFileDir().perform(context)


def test_text_and_substitutions_are_joined(context):
    parts = normalize_to_list_of_substitutions(["the ", LaunchConfiguration("robot"), " arm"])
    assert perform_substitutions(context, parts) == "the panda arm"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (IfCondition("true"), True),
        (IfCondition("1"), True),
        (IfCondition("False"), False),
        (IfCondition(LaunchConfiguration("yes")), True),
        (IfCondition(PythonExpression(["1 > 2"])), False),
        (UnlessCondition("0"), True),
        (UnlessCondition(LaunchConfiguration("yes")), False),
        (LaunchConfigurationEquals("robot", "panda"), True),
        (LaunchConfigurationEquals("robot", "fr3"), False),
        (LaunchConfigurationEquals("absent", None), True),
        (LaunchConfigurationNotEquals("robot", "fr3"), True),
    ],
)
def test_condition_holds(context, condition, holds):
    assert condition.evaluate(context) is holds


def test_condition_that_is_neither_true_nor_false_is_refused(context):
    with pytest.raises(Exception, match="perhaps"):
        IfCondition("perhaps").evaluate(context)
