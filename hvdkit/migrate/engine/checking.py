"""Runs rules over the facts: first those that ask the facts alone, then those that follow the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.migrate.catalog.rule import Last, Rule
from hvdkit.migrate.decisions.rank_questions import rank_questions
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.plan import Finding
from hvdkit.source.read.room import TooManyQuestions


class RuleFailed(HvdkitError):
    """A rule raised an error of its own: a mistake in hvdkit, never in the person's program."""


def run_rules(facts: Facts, rules: Iterable[Rule]) -> dict[Path, list[Finding]]:
    """Findings of all rules by file, in rule order."""
    return by_file(found_by(facts, list(rules)).values())


def found_by(facts: Facts, rules: list[Rule]) -> dict[str, list[Finding]]:
    """Findings of all rules by the rule's id, in rule order."""
    found: dict[str, list[Finding]] = {}
    last: list[tuple[Rule, Last]] = []
    for rule in rules:
        if isinstance(rule.check, Last):
            last.append((rule, rule.check))
        else:
            found[rule.id] = _in_use(facts, checked(rule, partial(rule.check, facts)))
    asking = rank_questions(facts, chain.from_iterable(found.values()))
    for rule, check in last:
        found[rule.id] = _in_use(facts, checked(rule, partial(check.check, facts, asking)))
    return {rule.id: found[rule.id] for rule in rules}


def _in_use(facts: Facts, found: Iterable[Finding]) -> list[Finding]:
    """The findings but those in methods that can run nowhere: they are another program's, if any."""
    names_of = {names.source.path: names for names in facts.files}
    graph = call_graph(facts)
    return [
        finding
        for finding in found
        if finding.place.path not in names_of
        or not graph.in_dead_code(names_of[finding.place.path], finding.place.node)
    ]


def by_file(found: Iterable[Iterable[Finding]]) -> dict[Path, list[Finding]]:
    """Findings by file, each once."""
    files: dict[Path, dict[Finding, None]] = defaultdict(dict)
    for finding in chain.from_iterable(found):
        files[finding.place.path].setdefault(finding)
    return {path: list(findings) for path, findings in files.items()}


def checked(rule: Rule, check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """What a rule finds. Raises: RuleFailed; what says that a program cannot be followed."""
    try:
        return list(check())
    except (RecursionError, TooManyQuestions):
        raise  # the program's depth, or its ways, not the rule's mistake: see room.py
    except Exception as error:
        import traceback  # slow to import, and rules seldom fail

        place = traceback.extract_tb(error.__traceback__)[-1]
        raise RuleFailed(
            f"internal error in rule {rule.id}: {type(error).__name__}: {error}"
            f" ({Path(place.filename).name}, line {place.lineno})",
            "without this rule the migration would be incomplete, so no file was changed",
            "please report it, with the file that triggers it (pass the files one by one to find it)",
        ) from error
