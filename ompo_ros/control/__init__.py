"""Everything between a policy and an arm, without ROS: observations, safety, homing, episodes, driver models."""
