"""What a rule is: the text and the two examples of its page, and a check over the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from hvdkit.migrate.facts import Facts
    from hvdkit.migrate.plan import Finding


@dataclass(frozen=True)
class Change:
    """A program before and after this rule alone; more files of the project by name in `files`."""

    before: str
    after: str
    note: str = ""
    target: str = "horovod"
    suggested: bool = False
    files: tuple[tuple[str, str], ...] = ()

    def texts(self) -> tuple[str, str]:
        """Both texts without their common indentation."""
        return dedent(self.before), dedent(self.after)


@dataclass(frozen=True)
class Keep:
    """A program that this rule must leave byte-identical, and why. reported: it says something about it."""

    code: str
    reason: str
    reported: bool = False
    suggested: bool = False
    files: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """The text without its common indentation."""
        return dedent(self.code)


@dataclass(frozen=True)
class Page:
    """What is said of a rule: what, why and safety are sentences, changes and keeps its two examples.

    All other examples are files beside the tests (tests/rule_examples.py), which no command reads.
    """

    id: str
    title: str
    what: str
    why: str
    safety: str
    changes: tuple[Change, ...]
    keeps: tuple[Keep, ...]


@dataclass(frozen=True)
class Rule(Page):
    """One rule: its page, and the check that finds where it applies."""

    check: Callable[[Facts], Iterator[Finding]]


def findings(rule: Rule, facts: Facts) -> list[Finding]:
    """What a rule says of a project, looked for once: a rule may ask what the others will write."""
    return facts.ask(_found, rule.check)


def _found(facts: Facts, check: Callable[[Facts], Iterator[Finding]]) -> list[Finding]:
    return list(check(facts))
