"""The base of actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .condition import Condition
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Action(LaunchDescriptionEntity):
    """Something to do, if its condition holds when it is reached."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        self._condition = condition

    @property
    def condition(self) -> Condition | None:
        return self._condition

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Entities that execution is known to yield."""
        return []

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self.get_sub_entities() if self._condition is None else []

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        return [] if self._condition is None else [(f"by condition of {self.describe()}", self.get_sub_entities())]

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self._condition is not None and not self._condition.evaluate(context):
            return None
        return self.execute(context)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do it; give back entities to visit next, if any."""
        return None
