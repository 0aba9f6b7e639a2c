"""The paper's own tasks: locomotion, Meta-World and its Panda."""
