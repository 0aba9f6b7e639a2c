"""Writes docs/parameters.md from the nodes' declarations: `tools/with_ros python tools/parameters_page.py`."""

from __future__ import annotations

from pathlib import Path

from ompo_ros.nodes.all_parameters import NODES
from ompo_ros.parameters import Parameter, parameters_of

PAGE = Path(__file__).parent.parent / "docs" / "parameters.md"
HEAD = """# Parameters

Every parameter of every node, as `ros2 param describe` shows it. All are read-only: set them in a
[parameter file](runs.md#parameter-files), or by a launch argument where there is one (`ros2 launch
ompo_ros adapt.launch.py --show-args`). Adaptation runs set some themselves, in `config/adapt.yaml`
and `config/adapt_push.yaml`: the defaults here are those of a node that is started alone.
Made by `tools/parameters_page.py` from `ompo_ros/nodes/parameters.py`,
`ompo_ros/nodes/learner_parameters.py` and `ompo_ros/learning/config.py`; change it there.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(f"\n## {name}\n\n{_table(kind)}" for name, kind in NODES.items())


def _table(kind: type) -> str:
    parameters = list(parameters_of(kind))
    with_paper = any(parameter.paper for parameter in parameters)
    heads = ["name", "default", "allowed", "meaning", *(["in the paper"] if with_paper else [])]
    rows = [heads, ["---"] * len(heads)]
    for parameter in parameters:
        cells = [f"`{parameter.name}`", _default(parameter), _allowed(parameter), parameter.description]
        rows.append([cell.replace("|", r"\|") for cell in cells + ([parameter.paper] if with_paper else [])])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _default(parameter: Parameter) -> str:
    if parameter.default == ():
        return "unset"
    text = str(parameter.default).lower() if isinstance(parameter.default, bool) else f"{parameter.default}"
    return f"`{text}`" if text else "empty"


def _allowed(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.is_number:
        return f"{parameter.low:.10g} to {parameter.high:.10g}"
    return {bool: "true, false", str: "text", tuple: "numbers"}[type(parameter.default)]


if __name__ == "__main__":
    PAGE.write_text(page())
