"""Where code that is written asks for the rank, in programs that had none: Horovod has to run by then."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Applicability, Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class RankQuestion:
    """A statement that asks for its rank, or talks to other ranks, once the edits are made."""

    names: Names
    statement: ast.stmt


def rank_questions(facts: Facts, findings: Iterable[Finding]) -> list[RankQuestion]:
    """The questions in what this run writes, in the order of files and lines."""
    places = {finding.place for finding in findings if _is_written(facts, finding) and _asks(facts, finding)}
    files = {place.path: facts.project.files[place.path] for place in places}
    asked = {RankQuestion(files[each.path], files[each.path].statement(each.node)) for each in places}
    return sorted(asked, key=_order)


def _is_written(facts: Facts, finding: Finding) -> bool:
    return finding.applicability is Applicability.SAFE or facts.options.suggested


def _asks(facts: Facts, finding: Finding) -> bool:
    """Whether the edits write something of Horovod's that it can say, or do, only where it runs.

    That is whatever its module has, for no rule has to know it, but for what is answered before it starts.
    """
    names = facts.project.files[finding.place.path]
    asking = re.compile(rf"(?<![\w.]){horovod_name(facts, names)}\.(?!(?:{words.NEEDS_NO_START.pattern})\b)")
    return any(asking.search(edit.text) for edit in finding.edits)


def _order(question: RankQuestion) -> tuple[str, int]:
    source = question.names.source
    return str(source.path), source.start(question.statement)
