"""YAML values with their lines, so that errors in presets and domain files name file, line and entry."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NoReturn

import yaml


class ConfigFileError(ValueError):
    """A robot preset or domain file that cannot be used; the message begins with file and line."""


class YamlValue:
    """A YAML value and its position in the file."""

    def __init__(self, node: yaml.Node, path: Path) -> None:
        self._node = node
        self._path = path

    @classmethod
    def of_file(cls, path: Path) -> YamlValue:
        try:
            node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except OSError as error:
            raise ConfigFileError(f"{path}: cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigFileError(f"{path}: is not YAML: {error}") from error
        if node is None:
            raise ConfigFileError(f"{path}:1: is empty, a mapping is needed")
        return cls(node, path)

    def refuse(self, problem: str) -> NoReturn:
        raise ConfigFileError(f"{self._path}:{self._node.start_mark.line + 1}: {problem}")

    @property
    def is_mapping(self) -> bool:
        return isinstance(self._node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self._node, yaml.SequenceNode)

    def mapping(self, allowed: tuple[str, ...]) -> dict[str, YamlValue]:
        """List the entries by name; an unknown or repeated name is refused with its line."""
        if not isinstance(self._node, yaml.MappingNode):
            self.refuse("a mapping (name: value) is needed here")
        entries: dict[str, YamlValue] = {}
        for key_node, value_node in self._node.value:
            key = YamlValue(key_node, self._path)
            name = str(key_node.value)
            if name not in allowed:
                key.refuse(f"unknown name {name!r}; known here: {', '.join(allowed)}")
            if name in entries:
                key.refuse(f"{name!r} is given twice")
            entries[name] = YamlValue(value_node, self._path)
        return entries

    def require(self, names: tuple[str, ...]) -> list[YamlValue]:
        """Take exactly the named entries, in the order asked for."""
        entries = self.mapping(names)
        missing = [name for name in names if name not in entries]
        if missing:
            self.refuse(f"{', '.join(missing)} missing")
        return [entries[name] for name in names]

    def items(self) -> list[YamlValue]:
        if not isinstance(self._node, yaml.SequenceNode):
            self.refuse("a list is needed here")
        return [YamlValue(node, self._path) for node in self._node.value]

    def number(self) -> float:
        try:
            value = float(self._node.value) if isinstance(self._node, yaml.ScalarNode) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.refuse("a finite number is needed here")
        return value

    def numbers(self, count: int | None = None) -> tuple[float, ...]:
        values = tuple(entry.number() for entry in self.items())
        if count is not None and len(values) != count:
            self.refuse(f"{count} numbers are needed here, got {len(values)}")
        return values

    def word(self, allowed: tuple[str, ...]) -> str:
        value = str(self._node.value) if isinstance(self._node, yaml.ScalarNode) else ""
        if value not in allowed:
            self.refuse(f"one of {', '.join(allowed)} is needed here, got {value!r}")
        return value

    def text(self) -> str:
        value = str(self._node.value) if isinstance(self._node, yaml.ScalarNode) else ""
        if not value:
            self.refuse("a text is needed here")
        return value

    def flag(self) -> bool:
        return self.word(("true", "false")) == "true"
