"""One rank's failure becomes everyone's: the ranks that succeeded learn of it instead of waiting forever.

For work that some ranks do alone (reading a file, a download). Not for errors inside a collective.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hvdkit.errors import HvdkitError
from hvdkit.torch.engine import hvd


class FailedElsewhereError(HvdkitError):
    """Another rank could not do its part; this one had nothing wrong."""


@contextmanager
def together(name: str) -> Iterator[None]:
    """Run the block; if it raised on any rank, raise on every rank. A collective: every rank enters it.

    Args:
        name: of the work, the same on every rank; also names the collective in Horovod's stall warnings.

    Raises:
        Exception: what the block raised on this rank.
        FailedElsewhereError: where it raised on others only, with the first such rank and what it saw.
    """
    error = None
    try:
        yield
    except Exception as caught:
        error = caught
    texts = hvd.allgather_object(error and f"{type(error).__name__}: {error}", name=f"hvdkit.{name}")
    if error is not None:
        raise error
    for rank, text in enumerate(texts):
        if text is not None:
            raise FailedElsewhereError(
                f"{name} failed on rank {rank}: {text}",
                why="the ranks continue together or not at all",
                fix=f"fix what rank {rank} reports",
            )
