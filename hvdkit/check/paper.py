"""What the paper job of a program objects to, as findings of a rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Callable

from hvdkit.conditions.objection import Objection
from hvdkit.job.record import Place, Record
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.paper_runs import record_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.source.index.names import Names


def objected(
    facts: Facts, program: ProgramFacts, condition: Callable[[Record], Iterator[Objection]]
) -> Iterator[tuple[Names, ast.AST, str]]:
    """Where the run of a program objects, and why: the first of the places that say the same."""
    record = record_of(facts, program)
    said: set[str] = set()
    for objection in condition(record) if record is not None else ():
        names = objection.at[0].file
        if isinstance(names, Names) and objection.sentence not in said:
            said.add(objection.sentence)
            text = (
                objection.sentence.replace(" at {}", "")
                .replace(": {}", "")
                .replace("{origin}", _place(objection.origin))
            )
            yield names, objection.at[1], text


def _place(origin: Place | None) -> str:
    names = None if origin is None else origin[0].file
    return names.place(origin[1]) if origin is not None and isinstance(names, Names) else ""
