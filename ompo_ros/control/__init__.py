"""What stands between a policy and an arm, without ROS: presets, observations, safety, homing, episodes, a stand-in."""
