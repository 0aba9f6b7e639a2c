"""What is asked of the arm: tasks, contracts, kinematics, robot presets; needs numpy and YAML alone."""
