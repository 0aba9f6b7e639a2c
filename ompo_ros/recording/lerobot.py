"""The episodes of an arm as a LeRobot dataset, format v3.0: parquet and JSON, no video."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ompo_ros.recording.batches import Batch
from ompo_ros.recording.reader import Recording, UnusableRecording
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import Origin

_VERSION: Final = "v3.0"
_FILE: Final = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_FIRST: Final = "chunk-000/file-000.parquet"
_NAMES: Final = {"observation.state": "obs", "action": "action"}  # their name, ours
_COUNTERS: Final = ("frame_index", "episode_index", "index", "task_index")
Columns = dict[str, NDArray[Any]]


def write_lerobot(recordings: list[Recording], folder: Path) -> int:
    """Write the dataset, whole or not at all; returns the number of episodes."""
    if folder.exists():
        raise UnusableRecording(f"{folder} exists already: choose another folder")
    contract = recordings[0].contract
    episodes = list(_episodes(batch for recording in recordings for batch in recording.batches()))
    if not episodes:
        raise UnusableRecording("there is no whole episode of the target to extract")
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        _write(unfinished, contract, episodes)
        unfinished.rename(folder)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return len(episodes)


def _episodes(batches: Iterable[Batch]) -> Iterator[Columns]:
    """Whole episodes of the target and demonstrations; each lies within one batch."""
    for batch in batches:
        rows = batch.transitions
        if rows.origin is Origin.SOURCE:
            continue
        ends = np.flatnonzero(rows.terminated | rows.truncated)
        for first, last in zip([0, *(ends[:-1] + 1)], ends, strict=False):
            piece = slice(first, last + 1)
            if (rows.step[piece] == np.arange(last + 1 - first)).all():
                done = (rows.terminated | rows.truncated)[piece]
                yield {
                    **{name: getattr(rows, ours)[piece] for name, ours in _NAMES.items()},
                    "next.reward": rows.reward[piece],
                    "next.done": done,
                }


def _write(folder: Path, contract: Contract, episodes: list[Columns]) -> None:
    lengths = [len(episode["next.reward"]) for episode in episodes]
    columns = {name: np.concatenate([episode[name] for episode in episodes]) for name in episodes[0]}
    frames = np.concatenate([np.arange(length) for length in lengths])
    columns["timestamp"] = (frames / contract.control_rate).astype(np.float32)
    counters = (frames, np.repeat(np.arange(len(lengths)), lengths), np.arange(len(frames)), np.zeros_like(frames))
    columns |= {name: values.astype(np.int64) for name, values in zip(_COUNTERS, counters, strict=True)}
    _write_table(folder / "data" / _FIRST, {name: _arrow(values) for name, values in columns.items()})
    _write_table(folder / "meta" / "episodes" / _FIRST, _episode_rows(contract, lengths))
    _write_tasks(folder / "meta" / "tasks.parquet", contract)
    _write_json(folder / "meta" / "info.json", _info(contract, columns, len(lengths)))
    _write_json(folder / "meta" / "stats.json", {name: _statistics(values) for name, values in columns.items()})


def _episode_rows(contract: Contract, lengths: list[int]) -> dict[str, Any]:
    ends = np.cumsum(lengths)
    zeros = [0] * len(lengths)
    return {
        "episode_index": list(range(len(lengths))),
        "tasks": [[contract.task]] * len(lengths),
        "length": lengths,
        "data/chunk_index": zeros,
        "data/file_index": zeros,
        "dataset_from_index": (ends - lengths).tolist(),
        "dataset_to_index": ends.tolist(),
        "meta/episodes/chunk_index": zeros,
        "meta/episodes/file_index": zeros,
    }


def _write_tasks(path: Path, contract: Contract) -> None:
    """LeRobot reads this by pandas and finds a task by the index; the metadata names the index column."""
    table = pa.table({"task_index": [0], "task": [contract.task]})
    kinds = {"task_index": ("int64", "int64"), "task": ("unicode", "object")}
    described = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
        for name, (kind, numpy) in kinds.items()
    ]
    notes = {"index_columns": ["task"], "column_indexes": [], "columns": described, "pandas_version": "2.0.0"}
    pq.write_table(table.replace_schema_metadata({"pandas": json.dumps(notes)}), path)


def _info(contract: Contract, columns: Columns, episodes: int) -> dict[str, Any]:
    names = {
        "observation.state": [signal.name for signal in contract.observation],
        "action": [signal.name for signal in contract.action],
    }
    return {
        "codebase_version": _VERSION,
        "robot_type": contract.robot,
        "total_episodes": episodes,
        "total_frames": len(columns["index"]),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": int(contract.control_rate),
        "splits": {"train": f"0:{episodes}"},
        "data_path": f"data/{_FILE}",
        "video_path": None,
        "features": {
            name: {"dtype": str(values.dtype), "shape": list(values.shape[1:]) or [1], "names": names.get(name)}
            for name, values in columns.items()
        },
    }


def _statistics(values: NDArray[Any]) -> dict[str, list[float]]:
    rows = values.reshape(len(values), -1).astype(np.float64)
    figures = {"min": rows.min(0), "max": rows.max(0), "mean": rows.mean(0), "std": rows.std(0)}
    return {**{name: figure.tolist() for name, figure in figures.items()}, "count": [len(rows)]}


def _arrow(values: NDArray[Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _write_table(path: Path, columns: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")
