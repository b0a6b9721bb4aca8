"""How a rank of a run ends: where its last step is recorded, and not in the code after it."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from hvdkit.verify.hook.settings import Settings

ENDED = "ended"  # of a record: a file for each rank that has ended by itself, with the steps it took


def leave_process_groups_calmly() -> None:
    """Leave a process group of Gloo as the script ends, and none before Gloo's threads have finished.

    They hold what the last collective used a moment longer than the script does, and free it under the GIL.
    Two things were seen with torch 2.13 on busy cores, in scripts without a fault. A group that is still open
    where the interpreter ends aborts the process (1 in 60 to 1 in 160). A group that is destroyed while a DDP
    model lives is freed with that model: its destructor waits for the threads with the GIL held, for ever
    (1 in 25).
    """
    import torch.distributed as dist

    if not dist.is_available():
        return
    destroy = dist.destroy_process_group

    @functools.wraps(destroy)
    def destroy_calmly(*args: Any, **kwargs: Any) -> None:
        time.sleep(0.2)
        destroy(*args, **kwargs)

    for module in (dist, dist.distributed_c10d):
        module.destroy_process_group = destroy_calmly  # type: ignore[attr-defined]
    atexit.register(_leave_process_group)


def _leave_process_group() -> None:
    import torch.distributed as dist

    if dist.is_initialized() and dist.get_backend() == "gloo":
        dist.destroy_process_group()


def mark_end(settings: Settings, rank: int, steps: Callable[[], int]) -> None:
    """Leave the number of steps taken where this process ends by itself.

    Registered at the first step, so that it is done before Horovod takes leave of the other ranks, which then
    fail.
    """

    def mark() -> None:
        folder = settings.path / ENDED
        folder.mkdir(exist_ok=True)
        (folder / str(rank)).write_text(str(steps()), encoding="utf-8")

    atexit.register(mark)


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
