"""`main_process_first()`: one process prepares (a download, a cache), the others find it done.

Not a lock: it orders the processes of this job only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hvdkit.torch.agreement import together
from hvdkit.torch.engine import hvd


@contextmanager
def main_process_first(*, local: bool = False) -> Iterator[None]:
    """Run the block on rank 0 first, then on the others. Every rank enters it.

    The block must hold no collective: rank 0 would wait in it for ranks that wait for rank 0.

    Args:
        local: local rank 0 of each host goes first, for a separate disk on each host.
            Without it rank 0 goes first, for a disk that all share.

    Raises:
        Exception: what the block raised on this rank.
        FailedElsewhereError: it failed where it went first; the block is not run on this rank.
    """
    if (hvd.local_rank() if local else hvd.rank()) == 0:
        with together("main_process_first"):
            yield
    else:
        with together("main_process_first"):
            pass
        yield
