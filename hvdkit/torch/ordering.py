"""`main_process_first()`: one process prepares (a download, a cache), the others find it done.

Not a lock: it orders the processes of this job only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import horovod.torch as hvd

from hvdkit.torch.agreement import raise_together


@contextmanager
def main_process_first(*, local: bool = False) -> Iterator[None]:
    """Run the block on rank 0 first, then on the others. Every rank enters it.

    The block must hold no collective: rank 0 would wait in it for ranks that wait for rank 0.

    Args:
        local: local rank 0 of each host goes first, for a disk that each host has of its own.
            Without it rank 0 goes first, for a disk that all share.

    Raises:
        Exception: what the block raised on a rank that went first.
        FailedElsewhereError: on every other rank, which then does not run the block.
    """
    first = (hvd.local_rank() if local else hvd.rank()) == 0
    if not first:
        raise_together(None, "main_process_first")
        yield
        return
    try:
        yield
    except Exception as error:
        raise_together(error, "main_process_first")
    else:
        raise_together(None, "main_process_first")
