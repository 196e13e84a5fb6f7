"""The exceptions that the package raises."""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument of a call or a launch does not fit."""


class ManifestError(ValueError):
    """A manifest is malformed, or its artifact is not for the CUDA driver."""


class CompileError(RuntimeError):
    """The compiler was not found or refused a program.

    The message holds its output.
    """


class ExecutionError(RuntimeError):
    """A kernel that ran on the CPU broke a rule of the GPU.

    The message says which rule, and where.
    """


class DriverError(RuntimeError):
    """A call of the CUDA driver failed.

    `name` is the driver's name of the error, such as CUDA_ERROR_INVALID_PTX,
    or an empty string if the driver itself could not be loaded.
    """

    def __init__(self, message: str, name: str = ""):
        super().__init__(message)
        self.name = name
