"""What usually causes a difference in what a script prints and writes."""

from __future__ import annotations

from hvdkit.verify.cause import Cause
from hvdkit.verify.compare import Comparison
from hvdkit.verify.differences import NO_RANK, Difference
from hvdkit.verify.printed import factor_between, near_misses


def files(_: Comparison, first: Difference) -> Cause | None:
    """Of a file that is written by others than in the original, or by none."""
    if first.migrated == NO_RANK:
        return Cause("HVD601", f"{first.name} is {NO_RANK}: let rank 0 write it, as the original does")
    if any(first.places):
        return None  # a name, or a moment: both lines say it
    return Cause("HVD601", f"{first.name} is {first.migrated}: guard it with `if hvd.rank() == 0:`")


def contents(_: Comparison, first: Difference) -> Cause | None:
    """Of what a file lacks, or has otherwise."""
    if any(first.places):  # a value: both lines say it
        lacks = first.migrated == "not in it"
        return Cause("HVD601", f"{first.name} is not saved: save what the original saves") if lacks else None
    what = (
        f"lacks {first.original}"
        if first.migrated == "not in it"
        else f"has other values of {first.original}"
    )
    return Cause(
        "HVD601", f"{first.name} {what}: save on rank 0 what the original saves, after it is trained"
    )


def printed(comparison: Comparison, first: Difference) -> Cause | None:
    """Of a number that is the number of ranks too large or too small."""
    world = float(comparison.migrated.world)
    if not factor_between(first.original, first.migrated, (world, 1.0 / world)):
        return None
    if any(near_misses(first.original, first.migrated)):
        return None  # of another evaluation, and twice as large by chance
    return Cause(
        "HVD501",
        f"a metric is {comparison.migrated.world} times too large or too small: its allreduce is a sum in "
        "one script and an average in the other; name the op (hvd.Sum, hvd.Average), and divide to match",
    )
