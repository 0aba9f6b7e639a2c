"""The base of events."""


class Event:
    """Something that happened, or that is asked to happen."""

    name = "launch.Event"
