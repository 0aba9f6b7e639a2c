"""Descriptions of parameters, under their genuine import path."""

from .parameter_descriptions import Parameter, ParameterFile, ParameterValue

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]
