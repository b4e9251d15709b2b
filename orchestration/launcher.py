"""The command of a checkout that was installed before it moved to :mod:`substrate.cli.launcher`."""

from substrate.cli.launcher import main

__all__ = ["main"]
