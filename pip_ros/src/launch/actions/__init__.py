"""What a launch can do."""

from .configuration import SetLaunchConfiguration, UnsetLaunchConfiguration
from .declare_launch_argument import DeclareLaunchArgument
from .emit_event import EmitEvent, Shutdown
from .environment import AppendEnvironmentVariable, SetEnvironmentVariable, UnsetEnvironmentVariable
from .execute_process import ExecuteProcess
from .group_action import GroupAction
from .include_launch_description import IncludeLaunchDescription
from .log_info import LogInfo
from .opaque_function import OpaqueFunction
from .register_event_handler import RegisterEventHandler, UnregisterEventHandler
from .timer_action import TimerAction

__all__ = [
    "AppendEnvironmentVariable",
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
    "TimerAction",
    "UnregisterEventHandler",
    "UnsetEnvironmentVariable",
    "UnsetLaunchConfiguration",
]
