"""Why a policy or a registry is refused: one class a reason, so that a caller can act on each."""

from __future__ import annotations

from ompo_ros.policy.records import plain


class RefusedPolicy(ValueError):
    """A policy that will not be run; the message says what is wrong with it, whatever text the policy holds."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))


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


class RegistryError(RuntimeError):
    """The registry cannot do what was asked; the message says why and what would work."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))


class DamagedPolicy(RegistryError):
    """One policy's file is not what was registered; the others are untouched."""


class UnreadablePolicy(RegistryError):
    """One policy's file cannot be read at this moment; nothing is concluded from that."""
