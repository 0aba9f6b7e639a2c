"""The error of a substitution that cannot be worked out."""


class SubstitutionFailure(RuntimeError):
    """A substitution has no value; its text says what to do."""
