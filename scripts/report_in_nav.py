"""MkDocs hook: add the report to the navigation of a site that has one, as `make site` builds it."""

from __future__ import annotations

import os
from typing import Any

from mkdocs.structure.nav import Link


def on_nav(nav: Any, **_: Any) -> Any:
    """Add the report if the site has one."""
    if os.environ.get("REPORT_IN_SITE"):
        nav.items.append(Link("Report", "report/index.html"))
    return nav
