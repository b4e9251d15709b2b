"""Every public name says what it is and shows it."""

from __future__ import annotations

import inspect

import pytest

import substrate


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in substrate.__all__
        if inspect.isclass(getattr(substrate, n)) or inspect.isfunction(getattr(substrate, n))
    ],
)
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    assert ">>> " in (getattr(substrate, name).__doc__ or "")
