"""What a cause is: how it shows in a log, why it happens, and the one thing that fixes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from hvdkit.explain.log import Log


class Level(IntEnum):
    """How much a match says. Of several, the lowest is the cause and the others come with it."""

    NAMED = 0  # Horovod, a launcher or ssh says exactly this
    OWN = 1  # something ended, and the log shows where
    WAITS = 2  # some ranks wait for others: where one has ended, that is why
    FOLLOWS = 3  # what the other ranks say when one has failed


# What a log adds to a sentence that is complete without it.
_ADDED = dict.fromkeys(("where", "place", "versions", "detail", "hint"), "")


@dataclass(frozen=True)
class Match:
    """A cause found in a log. line: number of the line that shows it. facts: what title, why and fix name."""

    line: int
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cause:
    """One cause. id: one word for machines. title, why and fix: sentences, {names} in them from the match.

    excerpt: lines of the real log that it was made from. general: what the sentences say for a {name} where
    there is no log. on_gpu: it takes a GPU to happen, so it was never provoked here and has no excerpt.
    source: the public report (or manual) that its log was rebuilt from, where it was not provoked either.
    generic: where another cause is found at the same line, that one says more.
    """

    id: str
    title: str
    why: str
    fix: str
    find: Callable[[Log], Match | None]
    excerpt: str
    level: Level = Level.NAMED
    on_gpu: bool = False
    general: dict[str, str] = field(default_factory=dict)
    source: str = ""
    generic: bool = False

    def in_general(self, sentence: str) -> str:
        """Its title, why or fix where there is no log. Raises KeyError for a name that `general` lacks."""
        return sentence.format_map(_ADDED | self.general).strip()


def says(*patterns: str, in_job: bool = False) -> Callable[[Log], Match | None]:
    """Finds the first line that holds one of the regular expressions; their named groups become the facts.

    in_job: any program may say this, so it counts in the output of a Horovod job alone.

    `{where}` is added: " on rank R" where a rank wrote the line, else "".
    """
    compiled = [re.compile(pattern, re.MULTILINE) for pattern in patterns]

    def find(log: Log) -> Match | None:
        if in_job and not log.is_job:
            return None
        hits = [hit for pattern in compiled for hit in [log.search(pattern)] if hit]
        first = min(hits, key=lambda hit: hit.line.number, default=None)
        if first is None:
            return None
        where = "" if first.line.rank is None else f" on rank {first.line.rank}"
        return Match(first.line.number, {"where": where, **first.groups})

    return find
