"""What stops a script once it is a rank of several: an early name, a size of 0, a collective in XLA."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, is_assumed, ranks_with
from hvdkit.job.record import Record


def read_too_early(record: Record) -> Iterator[Objection]:
    """The names that are read before their file binds them."""
    for each in record.unbound:
        if each.name in each.place[0].frame.bound and ranks_with(each.active):
            if not is_assumed(record, each.active):
                yield Objection(each.place, f"{each.name} is used at {{}}, above the line that defines it")


def divided_to_zero(record: Record) -> Iterator[Objection]:
    """Sizes of 1 that are divided by the number of ranks."""
    for place in record.zeros:
        yield Objection(place, "a batch of 1 is divided to 0 by the number of ranks at {}")


def compiled_by_xla(record: Record) -> Iterator[Objection]:
    """Collectives in what XLA compiles."""
    for place in record.by_xla:
        yield Objection(
            place,
            "jit_compile=True: XLA cannot compile Horovod's collectives (HOROVOD_ENABLE_XLA_OPS), at {}",
        )
