"""What a launch can do with ROS 2 nodes."""

from .node import Node
from .scope import PushRosNamespace, SetParameter, SetParametersFromFile, SetRemap

PushROSNamespace = PushRosNamespace

__all__ = ["Node", "PushROSNamespace", "PushRosNamespace", "SetParameter", "SetParametersFromFile", "SetRemap"]
