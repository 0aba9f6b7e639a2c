"""Messages from the launch file to its user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import logging
from ..action import Action
from ..condition import Condition
from ..substitution import SomeSubstitutionsType
from ..utilities import perform

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LogInfo(Action):
    """Reports a message."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._message = msg

    def execute(self, context: LaunchContext) -> None:
        logging.get_logger("launch.user").info(perform(context, self._message))
