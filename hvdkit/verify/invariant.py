"""What is found to hold, or not, where there is nothing to compare with."""

from __future__ import annotations

from dataclasses import dataclass

from hvdkit.verify.causes import Cause


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


def named(unchecked: tuple[Unchecked, ...]) -> str:
    """What a verdict appends, so that nobody takes for proven what was not checked."""
    what = dict.fromkeys(each.what for each in unchecked)
    return f"; not checked: {', '.join(what)}" if what else ""
