"""A belief kept in a file, so that who continues it has its evidence as well; never pickled."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Final

import numpy as np

from ompo_ros.files import UnfitFile, read_bounded, write_whole
from ompo_ros.sim.belief.belief import Belief

_LARGEST: Final = 16 * 2**20  # bytes; 3,000 steps take 1 MB
_SUM: Final = hashlib.sha256().digest_size  # bytes at the end, which readers of npz files pass over


class UnusableBelief(ValueError):
    """The file is missing or damaged, or holds something else; the message says which."""


def keep(belief: Belief, path: Path) -> None:
    """Replace the file in one step."""
    content = io.BytesIO()
    np.savez(content, **belief.arrays())  # type: ignore[arg-type] # its stub takes the names for options
    write_whole(path, content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def restore(belief: Belief, path: Path) -> None:
    """Continue the kept belief; raises UnusableBelief and leaves `belief` as it was."""
    try:
        whole = read_bounded(path, _LARGEST)
        content, digest = whole[:-_SUM], whole[-_SUM:]
        if hashlib.sha256(content).digest() != digest:
            raise UnfitFile("damaged, or of another version: its SHA-256 is not the one at its end")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            belief.restore({name: file[name] for name in file.files})
    except (OSError, UnfitFile, KeyError, TypeError, ValueError) as error:
        raise UnusableBelief(f"{path}: {error}") from error
