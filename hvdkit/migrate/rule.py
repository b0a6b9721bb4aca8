"""What a rule is: an id, the reason for it, a check over the facts, and the examples of its page."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from textwrap import dedent
from typing import Callable

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.once import once
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
class Rule:
    """One rule. what, why and safety are sentences for the rule's page, changes and keeps its two examples.

    All other examples are files beside the tests (tests/rule_examples.py), which no command reads.
    """

    id: str
    title: str
    what: str
    why: str
    safety: str
    check: Callable[[Facts], Iterator[Finding]]
    changes: tuple[Change, ...]
    keeps: tuple[Keep, ...]


def findings(rule: Rule, facts: Facts) -> list[Finding]:
    """What a rule says of a project, looked for once: a rule may ask what the others will write."""
    return _found(facts, rule.check)


@once
def _found(facts: Facts, check: Callable[[Facts], Iterator[Finding]]) -> list[Finding]:
    return list(check(facts))


def rules_in(package: str, path: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of a package in the order of their numbers: the RULE of each module named hvdNNN_..."""
    return tuple(import_module(f"{package}.{module}").RULE for module in _modules_in(path))


def ids_in(path: Iterable[str]) -> list[str]:
    """The ids of the rules of a package, by the names of its modules; none is loaded."""
    return [module.partition("_")[0].upper() for module in _modules_in(path)]


def _modules_in(path: Iterable[str]) -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(path) if module.name.startswith("hvd"))
