"""What launch descriptions of tests can do."""

from collections.abc import Callable

from launch import Action, LaunchContext


class ReadyToTest(Action):
    """Lets the tests begin."""

    def __init__(self) -> None:
        super().__init__()
        self.callback: Callable[[], None] = lambda: None

    def execute(self, context: LaunchContext) -> None:
        self.callback()
