"""Common parts of the nodes: conversions, streams, parameters, identity, start and end of a process."""
