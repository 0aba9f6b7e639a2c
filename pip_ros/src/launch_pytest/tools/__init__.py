"""Waiting for what processes do."""

from . import process

__all__ = ["process"]
