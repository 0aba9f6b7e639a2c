"""A belief kept in a file, so that who continues it has its evidence as well; never pickled."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Final

import numpy as np

from ompo_ros.files import UnfitFile, read_bounded, write_whole
from ompo_ros.sim.belief.belief import Belief

_LARGEST: Final = 16 * 2**20  # bytes; 3,000 steps take 1 MB


class UnusableBelief(ValueError):
    """The file is missing or damaged, or holds something else; the message says which."""


def keep(belief: Belief, path: Path) -> None:
    """Replace the file in one step."""
    content = io.BytesIO()
    np.savez(content, **belief.arrays())  # type: ignore[arg-type] # its stub takes the names for options
    write_whole(path, content.getvalue())


def restore(belief: Belief, path: Path) -> None:
    """Continue the kept belief; raises UnusableBelief and leaves `belief` as it was."""
    try:
        content = io.BytesIO(read_bounded(path, _LARGEST))
        with np.load(content, allow_pickle=False) as file:
            belief.restore({name: file[name] for name in file.files})
    except (OSError, UnfitFile, zipfile.BadZipFile, AttributeError, EOFError, KeyError, TypeError, ValueError) as error:
        raise UnusableBelief(f"{path}: {error}") from error
