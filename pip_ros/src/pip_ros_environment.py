"""Tells ament where the ROS wheels are; every interpreter imports it, so it stays nearly free. PYTEST_DONT_REWRITE"""

import os
import sys

if not os.environ.get("AMENT_PREFIX_PATH"):
    os.environ["AMENT_PREFIX_PATH"] = sys.prefix
