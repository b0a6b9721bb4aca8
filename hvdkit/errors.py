"""Errors that tell a person what was seen, why it matters, and what to type.

One subclass per cause that a caller can act on; the command line prints any of them and exits 2.
"""

from __future__ import annotations

import re

from hvdkit.credentials import masked

# In a name that somebody else gave a file it would pass for what hvdkit says.
_PART = re.compile(r"\n(?=  (?:why|fix): )")


class HvdkitError(Exception):
    """Something hvdkit cannot go on with.

    seen: what was found, with the names and values. why: what would happen otherwise.
    fix: the one command or edit that fixes it.
    """

    def __init__(self, seen: str, why: str = "", fix: str = "") -> None:
        super().__init__(seen, why, fix)
        self.seen = seen
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        named = {"": self.seen, "  why: ": self.why, "  fix: ": self.fix}
        parts = (name + _PART.sub(r"\\n", text) for name, text in named.items() if text)
        return masked("\n".join(parts))


class UsageError(HvdkitError):
    """The command was called with arguments that contradict each other or name nothing."""
