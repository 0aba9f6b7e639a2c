"""The only import of panda-gym, which is not available for every Python version."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without_banner() -> Iterator[None]:
    """Drop what PyBullet's C code prints when it is imported or connected to, past Python's streams."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in kept:
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


try:
    with without_banner():
        import panda_gym.envs as panda_gym_envs
except ImportError as error:
    raise ImportError(
        "panda-gym or its simulator PyBullet is not installed. PyBullet has wheels for Python 3.10 and 3.11: with one "
        "of these run `pip install panda-gym`; with a newer Python take a MuJoCo target instead, such as "
        "gymnasium.make('ompo/PandaReachDense-v0', domain='hidden')."
    ) from error

__all__ = ["panda_gym_envs", "without_banner"]
