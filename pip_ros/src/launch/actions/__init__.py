"""What a launch can do."""

from .configuration import DeclareLaunchArgument, SetEnvironmentVariable, SetLaunchConfiguration
from .execute_process import ExecuteProcess
from .flow import EmitEvent, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from .structure import GroupAction, IncludeLaunchDescription

__all__ = [
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "RegisterEventHandler",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
]
