"""What a check says: plain data, the same for people and machines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """How much a finding matters. NOTE and OK are not counted as something found."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"
    UNKNOWN = "unknown"

    @property
    def counts(self) -> bool:
        """Whether it makes `hvdkit doctor` end with 1."""
        return self not in (Level.OK, Level.NOTE)


@dataclass(frozen=True)
class Finding:
    """One sentence about one host ("" for all of them together), with why it matters and what to type."""

    level: Level
    seen: str
    why: str = ""
    fix: str = ""
    check: str = ""
    host: str = ""


def ok(seen: str) -> Finding:
    """Nothing to do."""
    return Finding(Level.OK, seen)


def note(seen: str, why: str = "", fix: str = "") -> Finding:
    """Worth knowing; no action is needed."""
    return Finding(Level.NOTE, seen, why, fix)


def warning(seen: str, why: str, fix: str) -> Finding:
    """A job starts, and is slower or more fragile than it could be."""
    return Finding(Level.WARNING, seen, why, fix)


def error(seen: str, why: str, fix: str) -> Finding:
    """A job does not start, hangs, or computes something else."""
    return Finding(Level.ERROR, seen, why, fix)
