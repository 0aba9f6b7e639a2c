"""Tasks, contracts, kinematics and robot presets; needs only numpy and YAML."""
