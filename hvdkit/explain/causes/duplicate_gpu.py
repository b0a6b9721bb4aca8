"""Two ranks on one GPU."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="duplicate_gpu",
    title="two ranks use the same GPU",
    why=(
        "NCCL takes one rank per GPU: the device is not set from local_rank, or a host runs more "
        "ranks than it has GPUs."
    ),
    fix=(
        "torch.cuda.set_device(hvd.local_rank()) right after hvd.init(), and -H host:SLOTS with "
        "as many slots as GPUs"
    ),
    find=says(
        r"Duplicate GPU detected\s*:\s*rank (?P<a>\d+) and rank (?P<b>\d+)",
        r"Duplicate GPU detected",
        in_job=True,
    ),
    excerpt="",
    on_gpu=True,
)
