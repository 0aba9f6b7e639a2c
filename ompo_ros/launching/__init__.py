"""What the launch files share: arguments, nodes, how a launch ends, parameter files, how a run starts."""
