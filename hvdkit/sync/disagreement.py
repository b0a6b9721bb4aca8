"""The error for ranks that hold different values: which value, on which ranks, the likely cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hvdkit.errors import HvdkitError
from hvdkit.sync.causes import likely
from hvdkit.sync.evidence import Evidence


class OutOfSyncError(HvdkitError):
    """Ranks hold different values.

    name: the first tensor or setting that differs. ranks: those whose value is not that of the first rank.
    cause: one word for the likely cause, "unknown" where nothing speaks for one.
    """

    name: str
    ranks: tuple[int, ...]
    cause: str


def differing(tables: Sequence[Mapping[str, str]]) -> list[str]:
    """The names, in their order, that not all tables hold with the same digest."""
    names = dict.fromkeys(name for table in tables for name in table)
    return [name for name in names if len({table.get(name) for table in tables}) > 1]


def out_of_sync(
    names: Sequence[str],
    tables: Sequence[Mapping[str, str]],
    evidence: Sequence[Evidence],
    ranks: Sequence[int],
    moment: str,
) -> OutOfSyncError:
    """The error for the first of `names`, which not all tables (one per rank) hold with the same digest."""
    name, first = names[0], tables[0].get(names[0])
    others = tuple(rank for rank, table in zip(ranks, tables) if table.get(name) != first)
    cause = likely(evidence, names)
    error = OutOfSyncError(
        f"{moment}{name} on {in_words(others)} differs from rank {ranks[0]}"
        + (f", and {len(names) - 1} more" if len(names) > 1 else ""),
        why=cause.text,
        fix=cause.fix,
    )
    error.name, error.ranks, error.cause = name, others, cause.id
    return error


def in_words(ranks: Iterable[int]) -> str:
    """`rank 1`, `ranks 1, 2`."""
    numbers = list(map(str, ranks))
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
