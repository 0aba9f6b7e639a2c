"""A registry's folder: which files in it are ours, and what the policies say where `registry.json` does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.files import UnfitFile, read_bounded
from ompo_ros.policy.decode import DecodeError
from ompo_ros.policy.errors import RefusedPolicy, RegistryError
from ompo_ros.policy.files import policy_bytes, read_policy
from ompo_ros.policy.registry_state import LATEST, Entry, State

STATE, LOCK, POLICIES = "registry.json", "lock", "policies"
MAX_STATE = 33_554_432  # bytes of registry.json, enough for the greatest `keep`
_POLICY = re.compile(r"[0-9]{10}-([0-9a-f]{64})\.onnx")
_UNFINISHED = re.compile(r"\.[0-9]{10}-[0-9a-f]{64}\.onnx\.unfinished")


@dataclass(frozen=True)
class Found:
    """What a folder holds; `rebuilt` if only the policies say so."""

    state: State
    rebuilt: bool = False
    warnings: tuple[str, ...] = ()
    refused: tuple[Path, ...] = ()  # policies that a rebuilt state leaves out


def find_state(folder: Path) -> Found | None:
    """Read `registry.json`, or rebuild it from the policies; None where a registry can begin. Changes nothing."""
    path = folder / STATE
    try:
        return Found(State.from_json(read_bounded(path, MAX_STATE)))
    except FileNotFoundError:
        files, problem = _policy_files(folder), "is missing"
        if not files:
            _require_unused(folder)
            return None
    except DecodeError as error:
        files, problem = _policy_files(folder), f"is damaged ({error})"
        if not files:
            raise RegistryError(
                f"{path} is damaged or another program's ({error}) and no policies lie beside it: choose another folder"
            ) from error
    except (OSError, UnfitFile, RegistryError) as error:
        raise RegistryError(f"{path} cannot be read, so nothing in {folder} was touched: {error}") from error
    return _rebuild(files, f"{path} {problem}: rebuilt from the policies beside it, without a stable one")


def delete_leftovers(folder: Path, state: State) -> None:
    """Remove what a killed writer left behind: our own kind of file that the state does not name."""
    named = {entry.file_name for entry in state.entries}
    for path in _policies(folder):
        ours = _POLICY.fullmatch(path.name) or _UNFINISHED.fullmatch(path.name)
        if ours and path.name not in named and not path.is_dir():
            path.unlink()


def _require_unused(folder: Path) -> None:
    """Refuse a folder that somebody else uses."""
    known = {LOCK, POLICIES, f".{STATE}.unfinished"}
    odd = [path.name for path in folder.iterdir() if path.name not in known] if folder.exists() else []
    odd += [path.name for path in _policies(folder) if not _UNFINISHED.fullmatch(path.name)]
    if odd:
        raise RegistryError(
            f"{folder} is no registry: it holds {min(odd)!r} and no {STATE}; choose an empty or a new folder"
        )


def _rebuild(files: list[Path], problem: str) -> Found:
    """What the policies say of themselves; `latest` is the newest, `stable` must be earned or activated again."""
    state, warnings, refused = State(), [problem], []
    for path in files:
        try:
            stamp = path.stat().st_mtime
            policy = read_policy(policy_bytes(path), sha256=path.stem.split("-")[1])
        except OSError as error:
            raise RegistryError(
                f"{problem}, but {path.name} cannot be read ({error.strerror}): make it readable or move it away"
            ) from error
        except RefusedPolicy as error:
            refused.append(path)
            warnings.append(f"{path.name} is refused and set aside: {error}")
            continue
        manifest, note = policy.manifest, f"found without {STATE}"
        entry = Entry(policy.version, policy.sha256, manifest.weights_sha256, stamp, note, manifest.evaluation)
        state = state.with_entry(entry).with_move(LATEST, policy.version, note, stamp)
    return Found(state, True, tuple(warnings), tuple(refused))


def _policy_files(folder: Path) -> list[Path]:
    """Files named as we name policies, in the order they were written."""
    files = [path for path in _policies(folder) if _POLICY.fullmatch(path.name)]
    return sorted(files, key=lambda path: (path.lstat().st_mtime_ns, path.name))


def _policies(folder: Path) -> list[Path]:
    return list((folder / POLICIES).iterdir()) if (folder / POLICIES).is_dir() else []
