"""What a rule is: the text and the two examples of its page, and a check over the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from textwrap import dedent
from typing import TYPE_CHECKING, Callable, Union

from hvdkit.dataclass import dataclass

if TYPE_CHECKING:
    from hvdkit.migrate.decisions.rank_questions import RankQuestion
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
class Last:
    """A check that is made once it is known where all other rules of the run ask for the rank."""

    check: Callable[[Facts, Sequence[RankQuestion]], Iterator[Finding]]


Check = Union[Callable[["Facts"], "Iterator[Finding]"], Last]


class AverageAfter(Enum):
    """In which programs gradients are averaged after backward() (HVD416) because of what a rule finds."""

    NEVER = "never"
    REFUSED = "where the rule refuses the program"
    FOUND = "where the rule finds anything"


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
    """One rule: its page, and the check that finds where it applies.

    average_after: whether what it finds says that an optimizer of Horovod's cannot average here.
    """

    check: Check
    average_after: AverageAfter = AverageAfter.NEVER
