"""What is found to hold, or not, where there is nothing to compare with."""

from __future__ import annotations

from dataclasses import dataclass

from hvdkit.verify.cause import Cause


@dataclass(frozen=True)
class Invariant:
    """name: what should hold. detail: what was seen. cause: what to look at when it does not hold."""

    name: str
    holds: bool
    detail: str
    cause: Cause | None = None


@dataclass(frozen=True)
class Unchecked:
    """What should hold and could not be checked, and why: the verdict names it."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"not checked: {self.what}: {self.reason}"


@dataclass(frozen=True)
class Checked:
    """What a further run has shown: what holds or does not, and what could not be seen."""

    invariants: tuple[Invariant, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()


# Exit codes of a comparison.
AGREE, DIFFER, NOT_CHECKED = 0, 1, 3


def exit_code(holds: bool, unchecked: tuple[Unchecked, ...]) -> int:
    """Of what was found, and what was not checked."""
    if not holds:
        return DIFFER
    return NOT_CHECKED if unchecked else AGREE


def named(unchecked: tuple[Unchecked, ...]) -> str:
    """What a verdict has behind its first word, so that nobody takes for proven what was not checked."""
    what = dict.fromkeys(each.what for each in unchecked)
    return f", not checked: {', '.join(what)}" if what else ""
