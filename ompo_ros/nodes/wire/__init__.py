"""What all nodes share: conversions, streams, parameters, identity, how a process starts and ends."""
