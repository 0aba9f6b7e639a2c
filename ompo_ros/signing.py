"""Signatures of what moves an arm: HMAC-SHA256 under one key that the machines of a run share."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "OMPO_KEY_FILE"
MAX_SKEW = 10.0  # s that a caller's clock may differ from ours
_KEY_BYTES = 32
_MAX_KEY_BYTES = 4096
_FORMAT = "ompo_ros signature 1"

Field = bytes | str | int


class KeyFileError(OSError):
    """A key file that cannot be used; the message says what to do."""


def key_from(environment: Mapping[str, str]) -> bytes | None:
    """The key whose file the environment names; None where it names none, and nothing is signed or checked."""
    name = environment.get(VARIABLE, "")
    return read_key(Path(name)) if name else None


def read_key(path: Path) -> bytes:
    """The key in a file that its owner alone can read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(_MAX_KEY_BYTES + 1)
    except OSError as error:
        raise KeyFileError(
            f"{VARIABLE}: {path} cannot be read ({error.strerror}): make one with `ompo key new`"
        ) from error
    if not stat.S_ISREG(mode) or stat.S_IMODE(mode) & 0o077:
        raise KeyFileError(f"{VARIABLE}: {path} is open to other users: run `chmod 600 {path}`")
    if not _KEY_BYTES <= len(key) <= _MAX_KEY_BYTES:
        raise KeyFileError(
            f"{VARIABLE}: {path} must hold {_KEY_BYTES} to {_MAX_KEY_BYTES} bytes: make one with `ompo key new`"
        )
    return key


def new_key(path: Path) -> None:
    """Write a new random key, whole, for its owner's eyes; a file that is there stays."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(unfinished, path)
    except FileExistsError as error:
        raise KeyFileError(f"{path} is there already: choose another name, or delete it first") from error
    finally:
        unfinished.unlink()


def encode(*fields: Field) -> bytes:
    """Fields as bytes that no other fields share: each has its length before it."""
    parts = [field if isinstance(field, bytes) else str(field).encode(errors="surrogatepass") for field in fields]
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def signature(key: bytes, kind: str, *fields: Field) -> bytes:
    """The signature of a message's fields; `kind` keeps one type's from passing for another's."""
    return hmac.digest(key, encode(_FORMAT, kind, *fields), hashlib.sha256)


class Stamps:
    """Refuses what was sent before: each sender's stamps go up."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, bytes]] = {}

    def problem(self, channel: str, stamp: int, signed: bytes, *, may_repeat: bool) -> str:
        """Why a signed message comes too late, or empty; a latched one may come again as it was."""
        newest, its = self._newest.get(channel, (-1, b""))
        if stamp < newest or (stamp == newest and not (may_repeat and signed == its)):
            return "it is no newer than the last one: a replay, or the sender's clock was set back"
        self._newest[channel] = (stamp, signed)
        return ""


def skew_problem(stamp: int, now: int) -> str:
    """Why a call's time (ns) does not fit our clock, or empty."""
    off = (stamp - now) * 1e-9
    return "" if abs(off) <= MAX_SKEW else f"its stamp is {off:+.0f} s off this machine's clock: set both clocks"
