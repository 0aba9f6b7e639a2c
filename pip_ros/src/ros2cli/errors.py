"""What a verb raises when the user asked for something that cannot be done."""


class CommandError(Exception):
    """A sentence for the user; the command prints it on stderr and exits with 1."""
