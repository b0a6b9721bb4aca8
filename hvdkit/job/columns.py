"""Columns: a value has one term for each of five processes, and is kept as one term where these are equal.

Process 0 runs alone, without a job. Processes 1 to 4 are ranks 0 to 3, two on each of two hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, Union

from hvdkit.job.terms import Term

PROCESSES = 5
RANKS = range(1, PROCESSES)  # of the job


class Split(tuple[Term, ...]):
    """A term for each process, of which two differ."""

    __slots__ = ()


Value = Union[Term, Split]


def columns(value: Value) -> Sequence[Term]:
    """The term of each process."""
    return value if isinstance(value, Split) else (value,) * PROCESSES


def joined(terms: Sequence[Term]) -> Value:
    """The value of five terms."""
    first = terms[0]
    for term in terms:
        if term is not first:
            return Split(terms)
    return first


def lift(function: Callable[..., Term], *values: Value) -> Value:
    """What a function of terms gives in each process; it is asked once for those that have the same."""
    for value in values:
        if type(value) is Split:
            break
    else:
        return function(*values)
    known: dict[tuple[Term, ...], Term] = {}
    found: list[Term] = []
    for terms in zip(*map(columns, values)):
        if terms not in known:
            known[terms] = function(*terms)
        found.append(known[terms])
    return joined(found)


def alike(value: Value) -> bool:
    """Whether all ranks of the job have the same."""
    if isinstance(value, Term):
        return True
    first = value[RANKS[0]]
    return all(value[rank] is first for rank in RANKS)
