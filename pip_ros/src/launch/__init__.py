"""Describe a system of processes and bring it up: the stand-in for the ROS 2 package `launch`."""

from . import actions, conditions, event_handlers, events, launch_description_sources, logging, substitutions
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import Action, LaunchDescriptionEntity
from .launch_service import LaunchService

__all__ = [
    "Action",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchService",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "launch_description_sources",
    "logging",
    "substitutions",
]
