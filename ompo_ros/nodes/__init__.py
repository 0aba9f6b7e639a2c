"""ROS 2 nodes: one file a node, each a page of wiring around logic that is tested without ROS."""
