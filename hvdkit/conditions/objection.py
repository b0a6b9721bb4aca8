"""What does not hold, where, and because of what: a sentence that is made of the terms of a record."""

from __future__ import annotations

import ast
from typing import NamedTuple

from hvdkit.job.columns import RANKS, Split, Value, columns
from hvdkit.job.record import Place, Record
from hvdkit.job.terms import Term, within


class Objection(NamedTuple):
    """sentence: with {} for the place, and {origin} for that of the cause, where it is elsewhere."""

    at: Place
    sentence: str
    origin: Place | None = None


def ranks_with(active: Value) -> list[int]:
    """The processes of the job that come to something, or may."""
    return [rank for rank in RANKS if not _never(columns(active)[rank])]


def _never(term: Term) -> bool:
    return term.kind == "const" and not term.parts[0]


def is_assumed(record: Record, active: Value) -> bool:
    """Whether it is not seen what decides that something runs.

    A library may call what it is given, or change it; what a name means may come from elsewhere.
    """
    return any(
        part.kind in ("called", "undefined")
        or (part.kind == "attribute" and not record.handed.isdisjoint(part.inner))
        for term in columns(active)
        for part in within(term)
    )


def differs_among(value: Value, ranks: list[int]) -> bool:
    """Whether some of these processes have different values."""
    return len({columns(value)[rank] for rank in ranks}) > 1


def surely_differs(value: Value) -> bool:
    """Whether ranks have different values on every way that the program may take."""
    return _surely([columns(value)[rank] for rank in RANKS])


def _surely(terms: list[Term]) -> bool:
    if len({*terms}) == 1:
        return False
    tests = {term.inner[0] for term in terms if term.kind == "either"}
    if len(tests) != 1:
        return True
    ways = ([[*term.inner][way] if term.kind == "either" else term for term in terms] for way in (1, 2))
    return all(map(_surely, ways))


def because(record: Record, value: Value, at: Place) -> tuple[str, Place | None]:
    """Why ranks have different values, as the end of a sentence, and the place that it names."""
    if not isinstance(value, Split):
        return "", None
    terms = [columns(value)[rank] for rank in RANKS]
    alike = set.intersection(*({*within(term)} for term in terms))
    for term in within(terms[0]):
        if term in alike:
            continue
        if term.kind == "seeded":
            return _seed(record, term, at)
    for term in within(terms[0]):
        if term not in alike and term.kind.startswith("the unseeded state"):
            return "no seed is set above it", None
    for term in within(terms[0]):
        if term not in alike and is_own(term):
            return _named(record, term, at, f"{term.kind} is each rank's own")
    return "it depends on the rank", None


def is_own(term: Term) -> bool:
    """Whether a term is of one process: it ends with its number."""
    return len(term.parts) == 2 and isinstance(term.parts[0], ast.AST) and isinstance(term.parts[1], int)


def _seed(record: Record, term: Term, at: Place) -> tuple[str, Place | None]:
    """Why the ranks' seeds differ."""
    for inner in within(term):
        if inner is term:
            continue
        if inner.kind == "drawn":
            return _named(record, inner, at, "its seed is drawn by each rank for itself")
        if is_own(inner) and not inner.kind.startswith("the unseeded state"):
            return _named(record, inner, at, f"its seed is {inner.kind}, which differs on each rank")
    return "its seed depends on the rank", None


def _named(record: Record, term: Term, at: Place, text: str) -> tuple[str, Place | None]:
    """A reason with the place that it is about."""
    site = term.parts[0]
    module = record.places.get(site) if isinstance(site, ast.AST) else None
    if module is None or not isinstance(site, ast.AST) or site is at[1]:
        return text, None
    return f"{text} at {{origin}}", (module, site)
