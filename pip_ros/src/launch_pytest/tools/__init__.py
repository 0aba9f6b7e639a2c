"""Waiting for what processes do."""

from . import process
from .process import (
    assert_output,
    assert_output_sync,
    assert_stderr,
    assert_stderr_sync,
    wait_for_exit,
    wait_for_exit_sync,
    wait_for_output,
    wait_for_output_sync,
    wait_for_start,
    wait_for_start_sync,
    wait_for_stderr,
    wait_for_stderr_sync,
)

__all__ = [
    "assert_output",
    "assert_output_sync",
    "assert_stderr",
    "assert_stderr_sync",
    "process",
    "wait_for_exit",
    "wait_for_exit_sync",
    "wait_for_output",
    "wait_for_output_sync",
    "wait_for_start",
    "wait_for_start_sync",
    "wait_for_stderr",
    "wait_for_stderr_sync",
]
