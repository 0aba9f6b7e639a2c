"""ROS 2 nodes: one file per node, with little more than wiring around logic that is tested without ROS."""
