"""The fault campaign: adaptation runs under random faults, judged by an observer that shares no code with control."""
