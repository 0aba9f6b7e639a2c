"""Off-dynamics policy learning for ROS 2 arms: importing this needs neither ROS nor torch."""

__version__ = "0.1.0"
