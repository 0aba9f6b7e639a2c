"""Functions that decide, while the launch runs, what to launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..condition import Condition
from ..launch_description_entity import LaunchDescriptionEntity, SomeEntitiesType, listed

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OpaqueFunction(Action):
    """Calls a function with the context, and visits the entities that it returns."""

    def __init__(
        self,
        *,
        function: Callable[..., SomeEntitiesType | None],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if not callable(function):
            raise TypeError(f"OpaqueFunction expected a function, got {function!r}")
        self._function = function
        self._args = tuple(args or ())
        self._kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return listed(self._function(context, *self._args, **self._kwargs))
