"""Removal of passwords and keys from output, also where they appear in an encoded form."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

HIDDEN = "[hidden]"
# The least length of a secret: a shorter key, such as "none", may be an ordinary word.
SHORTEST = 8


def without_user(url: str) -> str:
    """Remove the user name and password from an address.

    >>> without_user("https://ann:geheim@example.org:8000/a?b=c"), without_user("https://example.org/a@b")
    ('https://example.org:8000/a?b=c', 'https://example.org/a@b')
    """
    try:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    except ValueError:
        return url.rpartition("@")[2]


def hide(text: str, secrets: Iterable[str]) -> str:
    """Hide secrets in a text, both literal and as an address, JSON, HTML or base64 would encode them.

    >>> hide("no such key: MY%2fSECRET%2FKEY", ["my/secret/key"])
    'no such key: [hidden]'
    """
    spelt = {other for secret in secrets if len(secret) >= SHORTEST for other in _spellings(secret)}
    if not spelt:
        return text
    pattern = "|".join(re.escape(other) for other in sorted(spelt, key=lambda s: (-len(s), s)))
    return re.sub(pattern, HIDDEN, text, flags=re.IGNORECASE)


def _spellings(secret: str) -> set[str]:
    plain = secret, secret[::-1], unquote(secret), quote(secret, ""), quote_plus(secret)
    escaped = json.dumps(secret)[1:-1], html.escape(secret), repr(secret)[1:-1]
    encoders = base64.b64encode, base64.urlsafe_b64encode
    packed = (encode(secret.encode()).decode().rstrip("=") for encode in encoders)
    return {spelt for spelt in (*plain, *escaped, *packed) if len(spelt) >= SHORTEST}
