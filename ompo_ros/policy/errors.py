"""Why a policy is refused: one class a reason, so that a caller can tell a damaged file from a foreign one."""

from __future__ import annotations


class RefusedPolicy(ValueError):
    """A policy that will not be run; the message says what is wrong with it."""


class NotAPolicy(RefusedPolicy):
    """The bytes are no ONNX model, or one that this package's exporter would not have written."""


class ChecksumMismatch(RefusedPolicy):
    """The file is not the one that was signed off."""


class Oversized(RefusedPolicy):
    """The file or one of its tensors is larger than any policy."""


class ExternalData(RefusedPolicy):
    """A tensor lies outside the file."""


class SparseTensor(RefusedPolicy):
    """A tensor is stored sparse, which no policy is."""


class UnknownOperator(RefusedPolicy):
    """The graph computes with something no policy needs."""


class WrongInterface(RefusedPolicy):
    """The inputs or outputs are not those of a policy."""


class InvalidWeights(RefusedPolicy):
    """A tensor is missing, misshapen or not finite."""


class InvalidManifest(RefusedPolicy):
    """The manifest is unreadable, or speaks of another policy than the one it comes with."""


class ContractMismatch(RefusedPolicy):
    """The policy was made for another robot or another observation than the one at hand."""


class ParityFailure(RefusedPolicy):
    """The exported graph does not compute what the actor's definition says."""
