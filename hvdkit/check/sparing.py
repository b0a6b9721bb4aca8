"""The rules of check as a project runs them: without what it leaves out, and past a rule that fails."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.migrate.catalog.rule import Last, Rule
from hvdkit.migrate.engine.checking import RuleFailed, checked
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

# A comment of hvdkit's own, with the ids of rules in brackets or for every rule, and flake8's with ids.
_IGNORE = re.compile(r"#\s*hvdkit:\s*ignore\b(?:\[(?P<ids>[^\]]*)\])?", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa:\s*(?P<ids>[A-Z]+\d*(?:[\s,]+[A-Z]+\d*)*)", re.IGNORECASE)


def sparing(rules: Sequence[Rule], failures: dict[str, HvdkitError]) -> list[Rule]:
    """The rules, without the findings that the project leaves out. failures: gets the mistakes of rules."""
    return [_spared(rule, failures) for rule in rules]


def excluded(options: Options, path: Path) -> bool:
    """Whether a pattern of `exclude` names a file, or a folder that it is in."""
    return any(_matches(options, path, pattern) for pattern in options.exclude)


def _spared(rule: Rule, failures: dict[str, HvdkitError]) -> Rule:
    check = rule.check
    assert not isinstance(check, Last)

    def look(facts: Facts) -> Iterator[Finding]:
        try:
            found = checked(rule, lambda: check(facts))
        except RuleFailed as error:
            why = "what this rule finds is not reported; the other rules ran"
            failures.setdefault(rule.id, HvdkitError(error.seen, why, error.fix))
            return
        yield from (finding for finding in found if not _left_out(facts, finding))

    return replace(rule, check=look)


def _left_out(facts: Facts, finding: Finding) -> bool:
    options, path = facts.options, finding.place.path
    ignored = [ids for pattern, ids in options.per_file_ignores if _matches(options, path, pattern)]
    if excluded(options, path) or any(finding.rule.startswith(tuple(ids)) for ids in ignored):
        return True
    return any(_ignores(line, finding.rule) for line in _lines(facts.project.files[path], finding.place.node))


def _lines(names: Names, node: ast.AST) -> Iterator[str]:
    """The first and the last line of what a finding is about, and of its statement if it holds no others."""
    statement = names.statement(node) if node in names.parents else node
    around = [node, statement] if not hasattr(statement, "body") else [node]
    ends = {getattr(part, end, 1) for part in around for end in ("lineno", "end_lineno")}
    lines = names.source.text.splitlines()
    yield from (lines[number - 1] for number in ends if number <= len(lines))


def _ignores(line: str, rule: str) -> bool:
    own = _IGNORE.search(line)
    if own is not None and own["ids"] is None:
        return True
    ids = [found["ids"] for found in (own, _NOQA.search(line)) if found is not None]
    return rule in re.findall(r"[A-Z]+\d+", " ".join(ids).upper())


def _matches(options: Options, path: Path, pattern: str) -> bool:
    try:
        inside = path.relative_to(options.root)
    except ValueError:
        return False
    parts = [inside.as_posix(), *(parent.as_posix() for parent in inside.parents), *inside.parts]
    return any(fnmatchcase(part, pattern.rstrip("/")) for part in parts)
