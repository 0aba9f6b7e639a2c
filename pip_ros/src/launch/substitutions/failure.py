"""The error of a substitution that cannot be worked out."""


class SubstitutionFailure(RuntimeError):  # noqa: N818 - the genuine name
    """A substitution has no value; its text says what to do."""
