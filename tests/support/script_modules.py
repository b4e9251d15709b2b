"""The scripts of `scripts/`, which are no package, as modules."""

from __future__ import annotations

import importlib.util
from typing import Any

from projects import ROOT


def script(name: str) -> Any:
    """A script as a module of its own."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
