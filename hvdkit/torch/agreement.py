"""One rank's failure becomes everyone's: the ranks that succeeded learn of it instead of waiting forever.

For work that some ranks do alone (reading a file, a download). Not for errors inside a collective.
"""

from __future__ import annotations

import horovod.torch as hvd

from hvdkit.errors import HvdkitError


class FailedElsewhereError(HvdkitError):
    """Another rank could not do its part; this one had nothing wrong."""


def raise_together(error: Exception | None, name: str) -> None:
    """Raise on every rank if any rank has an error. A collective: every rank calls it.

    Args:
        error: what went wrong on this rank, or None.
        name: of the work, the same on every rank; also names the collective in Horovod's stall warnings.

    Raises:
        Exception: `error` itself, on a rank that has one.
        FailedElsewhereError: on the others, with the first failed rank and what it saw.
    """
    text = None if error is None else f"{type(error).__name__}: {error}"
    texts = hvd.allgather_object(text, name=f"hvdkit.{name}")
    if error is not None:
        raise error
    for rank, seen in enumerate(texts):
        if seen is not None:
            raise FailedElsewhereError(
                f"{name} failed on rank {rank}: {seen}",
                why="the ranks go on together or not at all",
                fix=f"mend what rank {rank} reports",
            )
