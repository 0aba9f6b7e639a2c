"""What every interpreter of the environment finds, without anything having been sourced."""

import os
import subprocess
import sys

from launching import beyond_genuine

TELL = """
import os
from ament_index_python import get_packages_with_prefixes
print(os.environ["AMENT_PREFIX_PATH"], bool(get_packages_with_prefixes()))
"""


def run_python(**variables):
    unset = {"AMENT_PREFIX_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH"}
    env = {name: value for name, value in os.environ.items() if name not in unset}
    command = [sys.executable, "-c", TELL]
    return subprocess.run(command, env={**env, **variables}, capture_output=True, text=True, check=True).stdout.split()


@beyond_genuine
def test_packages_are_found_where_nothing_says_where_they_are():
    assert run_python() == [sys.prefix, "True"]


def test_a_place_that_is_given_is_kept(tmp_path):
    (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
    assert run_python(AMENT_PREFIX_PATH=str(tmp_path)) == [str(tmp_path), "False"]
