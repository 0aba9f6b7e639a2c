"""Describe a system of processes and bring it up: the stand-in for the ROS 2 package `launch`."""

from . import actions, conditions, event_handlers, events, launch_description_sources, logging, substitutions
from .action import Action
from .condition import Condition
from .event import Event
from .event_handler import EventHandler
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity, SomeEntitiesType
from .launch_description_sources import InvalidLaunchFileError, LaunchDescriptionSource
from .launch_service import LaunchService
from .substitution import SomeSubstitutionsType, Substitution

__all__ = [
    "Action",
    "Condition",
    "Event",
    "EventHandler",
    "InvalidLaunchFileError",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchService",
    "SomeEntitiesType",
    "SomeSubstitutionsType",
    "Substitution",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "launch_description_sources",
    "logging",
    "substitutions",
]
