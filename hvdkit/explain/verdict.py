"""From a log to its cause: every cause looks, the one that says most is the answer."""

from __future__ import annotations

from dataclasses import dataclass

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.causes import all_causes
from hvdkit.explain.log import Log
from hvdkit.explain.noise import Harmless, harmless


@dataclass(frozen=True)
class Found:
    """A cause, and where the log shows it."""

    cause: Cause
    match: Match

    @property
    def title(self) -> str:
        """The cause's title with what the log says."""
        return self.cause.title.format_map(self.match.facts).strip()

    @property
    def why(self) -> str:
        """The cause's reason with what the log says."""
        return self.cause.why.format_map(self.match.facts)

    @property
    def fix(self) -> str:
        """The cause's remedy with what the log says."""
        return self.cause.fix.format_map(self.match.facts)


@dataclass(frozen=True)
class Verdict:
    """What a log says. found: the cause, then what else is in the log; empty when it is unknown."""

    log: Log
    found: tuple[Found, ...]
    harmless: tuple[Harmless, ...]


def judge(log: Log) -> Verdict:
    """The cause of a failed or hanging job, by its output."""
    found = [Found(cause, match) for cause in all_causes() for match in [cause.find(log)] if match]
    named = {one.match.line for one in found if not one.cause.generic}
    found = [one for one in found if not (one.cause.generic and one.match.line in named)]
    found.sort(key=lambda one: (one.cause.level, one.match.line))
    return Verdict(log, tuple(found), harmless(log))
