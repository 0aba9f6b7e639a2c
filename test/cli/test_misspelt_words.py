"""A misspelt word of the `ompo` command is answered with the one that was probably meant."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gaol", "1", "2", "3"], "'gaol' is not possible; did you mean goal?"),
        (["enable", "--node", "policy_controler"], "did you mean policy_controller?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(words, said):
    command = [sys.executable, "-m", "ompo_ros.cli", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert said in result.stderr.splitlines()[-1]
