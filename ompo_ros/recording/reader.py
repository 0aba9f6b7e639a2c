"""Reads recordings to their end, or to where they are cut or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from mcap.exceptions import InvalidMagic, McapError
from mcap.records import Channel, Chunk, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader, breakup_chunk

from ompo_ros.recording import batches
from ompo_ros.recording.batches import Batch, batch_from_bytes
from ompo_ros.recording.cdr import BrokenMessage
from ompo_ros.recording.definitions import fields
from ompo_ros.recording.writer import ABOUT, COMMAND_TOPIC, FORMAT, POLICY, files_in
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import InvalidData

FOLDER: Final = "recordings"  # of a run's folder
JOINT_STATE: Final = "sensor_msgs/msg/JointState"
_COMMANDS: Final = ("std_msgs/msg/Float64MultiArray", "trajectory_msgs/msg/JointTrajectory")
_LARGEST: Final = 1 << 28  # bytes of a record, and of what a chunk unpacks to


class UnusableRecording(ValueError):
    """A file that cannot be used as asked; the message says why, and what to do."""


class RecordedMessage(NamedTuple):
    """One serialized message."""

    topic: str
    kind: str  # such as ompo_msgs/msg/LearnerStatus
    data: bytes
    received: int  # ns


@dataclass
class Recording:
    """One file; `about`, `policies` and `damage` are known after its messages were read."""

    path: Path
    about: dict[str, str] = field(default_factory=dict)
    policies: list[dict[str, str]] = field(default_factory=list)
    damage: str = ""  # why reading ended early
    refused: int = 0  # batches that are broken or of another run

    def messages(self) -> Iterator[RecordedMessage]:
        """All messages, in the order they were written."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        self.policies.clear()
        for record in self._records():
            if isinstance(record, Schema):
                schemas[record.id] = record
                _require_layout(self.path, record)
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Message) and record.channel_id in channels:
                channel = channels[record.channel_id]
                kind = schemas[channel.schema_id].name if channel.schema_id in schemas else ""
                yield RecordedMessage(channel.topic, kind, record.data, record.log_time)
            elif isinstance(record, Metadata):
                self._note(record)

    def batches(self) -> Iterator[Batch]:
        """The valid batches of this run."""
        self.refused = 0
        for message in self.messages():
            if message.kind != batches.KIND:
                continue
            try:
                batch = batch_from_bytes(message.data)
            except (BrokenMessage, InvalidData):
                self.refused += 1
                continue
            if batch.run_id != self.about.get("run_id", ""):
                self.refused += 1
                continue
            yield batch

    @property
    def contract(self) -> Contract:
        """The contract of its transitions; only the beginning of the file is read."""
        if not self.about:
            for record in self._records():
                if isinstance(record, Metadata) and record.name == ABOUT:
                    self._note(record)
                    break
        try:
            return Contract.from_json(self.about["contract"])
        except (KeyError, ValueError) as error:
            raise UnusableRecording(
                f"{self.path} has no contract: it is cut at its beginning, or of another program"
            ) from error

    def is_command(self, message: RecordedMessage) -> bool:
        """Whether it was sent to the arm: known by its topic, since a driver may take joint states."""
        if COMMAND_TOPIC in self.about:
            return message.topic == self.about[COMMAND_TOPIC]
        return message.kind in _COMMANDS

    def may_move_an_arm(self, message: RecordedMessage) -> bool:
        """Whether a driver might take it; files without a command topic do not say which joint states were commands."""
        unknown = COMMAND_TOPIC not in self.about and message.kind == JOINT_STATE
        return unknown or message.kind in _COMMANDS or self.is_command(message)

    def _note(self, record: Metadata) -> None:
        if record.name == POLICY:
            self.policies.append(record.metadata)
        elif record.name == ABOUT:
            self.about = record.metadata
            if self.about.get("format") != FORMAT:
                found = self.about.get("format", "none")
                raise UnusableRecording(f"{self.path} is of format {found[:20]}, this release reads {FORMAT}")

    def _records(self) -> Iterator[McapRecord]:
        """Records up to the first that cannot be read; chunks are unpacked."""
        self.damage = ""
        with self.path.open("rb") as file:
            reader = StreamReader(file, emit_chunks=True, record_size_limit=_LARGEST)
            records = reader.records
            while True:
                place = file.tell()
                try:
                    inside = _unpacked(next(records, None))
                except InvalidMagic as error:
                    if place == 0:
                        raise UnusableRecording(f"{self.path} is no MCAP file") from error
                    self.damage = f"its end is damaged, after {place} bytes"
                    return
                except Exception as error:  # parsers raise anything on cut or damaged bytes
                    self.damage = f"readable up to byte {place} of {self.path.stat().st_size} ({str(error) or 'cut'})"
                    return
                if not inside:
                    return
                yield from inside


def recording_files(path: Path) -> list[Path]:
    """The files of a path: a recording, the folder of a run, or its folder of recordings."""
    if not path.is_dir():
        if not path.exists():
            raise UnusableRecording(f"there is no {path}: give a recording, or the folder of a run")
        return [path]
    found = files_in(path / FOLDER) or files_in(path)
    if not found:
        raise UnusableRecording(f"{path} holds no recording")
    return found


def lost_batches(numbers: dict[tuple[str, int], list[int]]) -> int:
    """Batches missing between the first and the last of each collector's session."""
    return sum(max(seen) - min(seen) + 1 - len(set(seen)) for seen in numbers.values())


def _unpacked(record: McapRecord | None) -> list[McapRecord]:
    """A record, or those of a chunk; none at the end of the file."""
    if not isinstance(record, Chunk):
        return [] if record is None else [record]
    if record.uncompressed_size > _LARGEST:
        raise McapError(f"a chunk of {record.uncompressed_size} bytes")
    return breakup_chunk(record, validate_crc=True) or [record]


def _require_layout(path: Path, schema: Schema) -> None:
    """Refuse another layout of batches: it would be read as wrong numbers."""
    if schema.name == batches.KIND and (found := fields(schema.data.decode(errors="replace"))) != list(batches.FIELDS):
        pairs = zip([*found, ("", "nothing")], [*batches.FIELDS, ("", "nothing")], strict=False)
        theirs, ours = next((a, b) for a, b in pairs if a != b)
        raise UnusableRecording(
            f"{path} is of another version: {batches.KIND} has {' '.join(theirs).strip()} "
            f"where this release has {' '.join(ours).strip()}"
        )
