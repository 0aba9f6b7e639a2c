"""The `ompo` command: one file per group of verbs."""
