"""How a rank of a run ends: where its last step is recorded, and not in the code after it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import NoReturn

from hvdkit.verify.hook.settings import Settings


def leave_process_group() -> None:
    """Leave a process group of Gloo that the script left open as it ended by itself.

    torch 2.13 aborts some such processes after their last line (1 in 60 to 1 in 160 seen), as Gloo's threads
    still run.
    """
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized() and dist.get_backend() == "gloo":
        dist.destroy_process_group()


def end_process(settings: Settings, ranks: Iterable[int]) -> NoReturn:
    """End this process, which recorded as `ranks`, once every rank has come here, so that none is cut off
    from a peer.

    Not by an exception: the script would catch it, save a checkpoint, or run its evaluation.
    """
    done = settings.path / "done"
    done.mkdir(exist_ok=True)
    for rank in ranks:
        (done / str(rank)).touch()
    sys.stdout.flush()
    sys.stderr.flush()
    while len(list(done.iterdir())) < settings.world:
        time.sleep(0.01)  # the command ends the run if a rank never comes
    os._exit(0)
