"""Tells ament where the ROS wheels are; imported by every interpreter of the environment, so nearly free."""

import os
import sys

if not os.environ.get("AMENT_PREFIX_PATH"):
    os.environ["AMENT_PREFIX_PATH"] = sys.prefix
