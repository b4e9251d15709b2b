"""Keeping passwords and keys out of what is written and said, also where they are repeated changed."""

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

HIDDEN = "[hidden]"
SHORTEST = 8
"""Characters from which a text is a secret: a key such as "none" is a word of the language."""


def without_user(url: str) -> str:
    """An address without the user name and password that it may hold.

    >>> without_user("https://ann:geheim@example.org:8000/a?b=c"), without_user("https://example.org/a@b")
    ('https://example.org:8000/a?b=c', 'https://example.org/a@b')
    """
    try:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    except ValueError:
        return url.rpartition("@")[2]


def hide(text: str, secrets: Iterable[str]) -> str:
    """A text without the secrets, as they are or as an address, JSON, HTML or base64 would write them.

    >>> hide("no such key: MY%2fSECRET%2FKEY", ["my/secret/key"])
    'no such key: [hidden]'
    """
    spelt = {other for secret in secrets if len(secret) >= SHORTEST for other in _spellings(secret)}
    if not spelt:
        return text
    pattern = "|".join(re.escape(other) for other in sorted(spelt, key=lambda s: (-len(s), s)))
    return re.sub(pattern, HIDDEN, text, flags=re.IGNORECASE)


def _spellings(secret: str) -> set[str]:
    packed = {
        encode(secret.encode()).decode().rstrip("=")
        for encode in (base64.b64encode, base64.urlsafe_b64encode)
    }
    plain = {secret, unquote(secret), secret[::-1]}
    escaped = {json.dumps(secret)[1:-1], html.escape(secret), repr(secret)[1:-1]}
    return {
        s for s in (*plain, *escaped, quote(secret, ""), quote_plus(secret), *packed) if len(s) >= SHORTEST
    }
