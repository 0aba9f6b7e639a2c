"""The FR3 by its maker's own protocol: a 1 kHz loop in a process of its own, and a simulated robot behind the same."""
