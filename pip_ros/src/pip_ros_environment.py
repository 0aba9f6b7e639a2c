"""Tells ament where the ROS wheels are: imported by every interpreter of the environment, so it stays nearly free.

PYTEST_DONT_REWRITE: it is imported long before pytest, which would warn about that.
"""

import os
import sys

if not os.environ.get("AMENT_PREFIX_PATH"):
    os.environ["AMENT_PREFIX_PATH"] = sys.prefix
