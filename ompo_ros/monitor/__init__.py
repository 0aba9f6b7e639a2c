"""A run in a browser: what the page knows, how it shows it, who may press its buttons. Knows nothing of ROS."""
