"""The exceptions that the package raises."""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument of a launch does not fit what the manifest requires."""


class ManifestError(ValueError):
    """A manifest is malformed or describes what this launcher cannot run."""


class CompileError(RuntimeError):
    """tile-translate was not found or refused a program; holds its output."""


class ExecutionError(RuntimeError):
    """A kernel that ran on the CPU did what no kernel may; says what and where."""


class DriverError(RuntimeError):
    """A call of the CUDA driver failed.

    `name` is the driver's name of the error, such as CUDA_ERROR_INVALID_PTX,
    or an empty string where the driver itself could not be loaded.
    """

    def __init__(self, message: str, name: str = ""):
        super().__init__(message)
        self.name = name
