"""Describe a system of processes and bring it up: the stand-in for the ROS 2 package `launch`."""

from . import actions, conditions, event_handlers, events, launch_description_sources, logging, substitutions
from .event_handlers import EventHandler
from .launch_context import Event, LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import Action, LaunchDescriptionEntity, SomeEntitiesType
from .launch_service import LaunchService
from .substitution import SomeSubstitutionsType, Substitution

__all__ = [
    "Action",
    "Event",
    "EventHandler",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
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
