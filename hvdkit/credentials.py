"""Credentials in addresses: found, so that they are neither printed nor written where others can read
them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# What pip and shells put the environment in for; it says nothing to who reads it.
REFERENCE = re.compile(r"\$\{([A-Z0-9_]+)\}")
# Found from `://` on: a picture as base64 is one word of a million letters, each of which may begin a scheme.
_ADDRESS = re.compile(r"(?<=[A-Za-z0-9+.-])://(?P<authority>[^\s/?#'\"]+)(?P<rest>[^\s'\"]*)")
_IN_QUERY = re.compile(r"[?&](?P<name>[\w-]+)=(?P<value>[^&#\s,;]+)")
_SECRET = re.compile(r"token|passw(?:or)?d|secret|api[_-]?key|sig(?:nature)?|credential", re.IGNORECASE)
_MASK = "****"


def masked(text: str) -> str:
    """The text with what opens the addresses in it as `****`: for every output."""
    return replaced(text, lambda _: _MASK)


def replaced(text: str, instead: Callable[[str], str]) -> str:
    """The text with `instead(credential)` in the place of each credential."""
    pieces, end = [], 0
    for start, stop in _spans(text):
        pieces += [text[end:start], instead(text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the credentials are: the password or token before an @, and those in a query."""
    for address in _ADDRESS.finditer(text):
        user, at, _ = address["authority"].rpartition("@")
        name, colon, _ = user.partition(":")
        # By http a name alone is a token; by ssh it is a name that anybody may know, such as git.
        whole = (
            text[max(address.start() - len("https"), 0) : address.start()].lower().endswith(("http", "https"))
        )
        start = address.start("authority") + (0 if whole else len(name) + len(colon))
        stop = address.start("authority") + len(user)
        if at and (whole or colon) and not REFERENCE.fullmatch(text[start:stop].rpartition(":")[2]):
            yield start, stop
        for value in _IN_QUERY.finditer(address["rest"]):
            if _SECRET.search(value["name"]) and not REFERENCE.fullmatch(value["value"]):
                begin = address.start("rest")
                yield begin + value.start("value"), begin + value.end("value")
