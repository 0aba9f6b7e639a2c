"""Writes docs/parameters.md from the nodes' declarations: `tools/with_ros python tools/parameters_page.py`."""

from __future__ import annotations

from pathlib import Path

from ompo_ros.nodes.learner_parameters import LearnerParameters
from ompo_ros.nodes.parameters import (
    IdentifierParameters,
    MonitorParameters,
    PolicyControllerParameters,
    PolicyServerParameters,
    RobotSimParameters,
    RunManagerParameters,
    SourceCollectorParameters,
    TargetCollectorParameters,
    TransitionMonitorParameters,
)
from ompo_ros.parameters import Parameter, parameters_of

PAGE = Path(__file__).parent.parent / "docs" / "parameters.md"
NODES: dict[str, type] = {
    "learner": LearnerParameters,
    "policy_server": PolicyServerParameters,
    "identifier": IdentifierParameters,
    "source_collector": SourceCollectorParameters,
    "target_collector": TargetCollectorParameters,
    "run_manager": RunManagerParameters,
    "policy_controller": PolicyControllerParameters,
    "robot_sim": RobotSimParameters,
    "monitor": MonitorParameters,
    "transition_monitor": TransitionMonitorParameters,
}
HEAD = """# Parameters

Every parameter of every node, as `ros2 param describe` shows it. All are read-only: set them in a
parameter file (`params_file:=`, see `config/adapt.yaml`) or by a launch argument of the same name.
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
