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
    """Read the key file named by the environment; None means that nothing is signed or checked."""
    name = environment.get(VARIABLE, "")
    return read_key(Path(name)) if name else None


def read_key(path: Path) -> bytes:
    """Read a key from a file that only its owner can read."""
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
    """Write a new random key, readable by its owner only; an existing file is never replaced."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(unfinished, path)
    except FileExistsError as error:
        raise KeyFileError(f"{path} exists already: choose another name, or delete it first") from error
    finally:
        unfinished.unlink()


def encode(*fields: Field) -> bytes:
    """Encode fields as unambiguous bytes: each one is preceded by its length."""
    parts = [field if isinstance(field, bytes) else str(field).encode(errors="surrogatepass") for field in fields]
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def signature(key: bytes, kind: str, *fields: Field) -> bytes:
    """Sign a message's fields; `kind` prevents a signature of one type from fitting another."""
    return hmac.digest(key, encode(_FORMAT, kind, *fields), hashlib.sha256)


class Stamps:
    """Refuses replayed messages: the stamps of each sender must rise."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, bytes]] = {}

    def problem(self, channel: str, stamp: int, signed: bytes, *, may_repeat: bool) -> str:
        """Say why a signed message is out of date, or return ""; a latched one may be repeated unchanged."""
        newest, its = self._newest.get(channel, (-1, b""))
        if stamp < newest or (stamp == newest and not (may_repeat and signed == its)):
            return "it is no newer than the last one: a replay, or the sender's clock was set back"
        self._newest[channel] = (stamp, signed)
        return ""


def skew_problem(stamp: int, now: int) -> str:
    """Say why a call's time (ns) does not fit our clock, or return ""."""
    off = (stamp - now) * 1e-9
    return "" if abs(off) <= MAX_SKEW else f"its stamp is {off:+.0f} s off this machine's clock: set both clocks"
