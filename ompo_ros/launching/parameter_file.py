"""Parameter files: which entries reach which of our nodes, however their keys are spelled; others are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from ompo_ros.nodes.all_parameters import NODES as DECLARED
from ompo_ros.parameters import InvalidParameter, Parameter, parameters_of
from ompo_ros.reporting.kept_files import is_path, kept_copy
from ompo_ros.spelling import meant

NODES: Final = (
    "learner",
    "identifier",
    "policy_server",
    "source_collector",
    "target_collector",
    "run_manager",
    "policy_controller",
    "robot_sim",
    "fci_driver",
    "franka_sim",
    "recorder",
    "monitor",
)
KINDS: Final = {"robot": "robots", "domain": "domains"}  # parameters that may name a file, and its folder in config/
_KEY: Final = "ros__parameters"
_NUMBERED: Final = re.compile(r"(source_collector)_(\d+)")


class InvalidParameterFile(ValueError):
    """A parameter file that cannot be used; the message says what to change."""


class _Loader(yaml.SafeLoader):
    """Reads numbers as ROS does: PyYAML takes 1e-4 for a text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


class Section(NamedTuple):
    """What a file says to one name: to every node ("**"), to a node, or to a numbered source."""

    key: str
    name: str
    parameters: dict[str, Any]  # nested names joined by dots

    @property
    def rank(self) -> int:
        """How closely a node is meant: the closer entry wins, of two alike the later one."""
        return 0 if self.name == "**" else 2 if _NUMBERED.fullmatch(self.name) else 1

    def reaches(self, node: str) -> bool:
        numbered = _NUMBERED.fullmatch(node)
        return self.name in ("**", node, numbered[1] if numbered else node)


class ParameterFile:
    """A parameter file whose every entry reaches a node of ours."""

    def __init__(self, path: Path, entries: list[Section]) -> None:
        self.path = path
        self._entries = sorted(entries, key=lambda entry: entry.rank)

    def of(self, node: str, besides: Iterable[str] = ()) -> dict[str, Any]:
        """The parameters of a node, numbered if it is a source; none may be among those set elsewhere."""
        found: dict[str, Any] = {}
        for entry in self._entries:
            if entry.reaches(node):
                found |= {name: value for name, value in entry.parameters.items() if name in _declared(node)}
        if twice := sorted(set(found) & set(besides)):
            raise InvalidParameterFile(
                f"{self.path} sets {', '.join(twice)} of {node}, which the launch sets: "
                "take it out of the file, and give it as a launch argument."
            )
        return {name: self._kept(name, value) for name, value in found.items()}

    def named(self) -> list[tuple[str, str, str]]:
        """The robot presets and domains that entries name: key, `robot` or `domain`, name or path."""
        items = [(entry.key, *item) for entry in self._entries for item in entry.parameters.items()]
        return [(key, name, str(value)) for key, name, value in items if name in KINDS]

    def named_files(self) -> list[tuple[str, str]]:
        """The robot presets and domain files that entries name by path, each with its kind."""
        named = [item for entry in self._entries for item in entry.parameters.items()]
        return [(KINDS[name], value) for name, value in named if name in KINDS and is_path(value)]

    def _kept(self, name: str, value: object) -> object:
        """A file that was kept with this one takes the place of the one it is a copy of."""
        if name not in KINDS or not is_path(value):
            return value
        return kept_copy(self.path.parent, KINDS[name], str(value)) or value


def read_parameters(path: Path, values: Mapping[str, str]) -> ParameterFile:
    """Read a file for a launch with these arguments (`namespace`, `num_sources`)."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - it is a SafeLoader
    except OSError as error:
        raise InvalidParameterFile(f"params_file {path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidParameterFile(f"params_file {path} is not YAML: {' '.join(str(error).split())}") from error
    namespace = [word for word in values["namespace"].split("/") if word]
    entries = [
        Section(key, _name(path, key, namespace, int(values.get("num_sources", 256))), dict(_flat(parameters)))
        for key, parameters in _sections(path, "", {} if content is None else content)
    ]
    for entry in entries:
        _check(path, entry)
    return ParameterFile(path, entries)


def _check(path: Path, entry: Section) -> None:
    """Each parameter must be one that a node of the entry has, with a value that is allowed."""
    declared = {name: item for node in NODES if entry.reaches(node) for name, item in _declared(node).items()}
    numbered = _NUMBERED.fullmatch(entry.name)
    declared |= _declared(numbered[1]) if numbered else {}
    for name, value in entry.parameters.items():
        if name not in declared:
            _refuse(path, entry.key, f"has no parameter {name!r}; {meant(name, declared)}")
        try:
            declared[name].check(tuple(value) if isinstance(value, list) else value)
        except InvalidParameter as error:
            _refuse(path, entry.key, f"sets {error}")


def _declared(node: str) -> dict[str, Parameter]:
    numbered = _NUMBERED.fullmatch(node)
    return {item.name: item for item in parameters_of(DECLARED[numbered[1] if numbered else node])}


def _sections(path: Path, key: str, content: object) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The parameters of each full key; namespaces may be nested."""
    if not isinstance(content, dict):
        _refuse(path, key, f"needs a mapping with {_KEY}")
    for name, value in content.items():
        if name != _KEY:
            yield from _sections(path, f"{key}/{str(name).strip('/')}", value)
        elif not isinstance(value, dict):
            _refuse(path, key, f"needs names and values under {_KEY}")
        else:
            yield key, value


def _flat(parameters: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in parameters.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _name(path: Path, key: str, namespace: list[str], sources: int) -> str:
    """Whom of a launch's nodes a key means; one without a namespace means the launch's."""
    *spaces, name = key.strip("/").split("/")
    numbered = _NUMBERED.fullmatch(name)
    if name not in ("*", "**") and (numbered[1] if numbered else name) not in NODES:
        _refuse(path, key, f"is none of our nodes; {meant(name, NODES)}")
    if spaces and not _matches(spaces, namespace):
        _refuse(path, key, f"is not in the namespace /{'/'.join(namespace)} of this launch: write /**/{name}")
    if numbered and int(numbered[2]) >= sources:
        _refuse(path, key, f"is not started: the last of {sources} sources is source_collector_{sources - 1}")
    return "**" if name == "*" else name


def _matches(pattern: list[str], namespace: list[str]) -> bool:
    """Whether a namespace fits: * stands for one word, ** for any number of them."""
    if not pattern or not namespace:
        return not namespace and all(word == "**" for word in pattern)
    if pattern[0] == "**":
        return _matches(pattern[1:], namespace) or _matches(pattern, namespace[1:])
    return pattern[0] in ("*", namespace[0]) and _matches(pattern[1:], namespace[1:])


def _refuse(path: Path, key: str, problem: str) -> NoReturn:
    end = "" if problem.endswith("?") else "."
    raise InvalidParameterFile(f"params_file {path}: {key or 'it'} {problem}{end}")
