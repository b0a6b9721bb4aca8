"""A GPU that is not there."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="device_ordinal",
    title="a rank asks for a GPU that is not there{where}",
    why=(
        "A host runs more ranks than it has GPUs, or the scheduler shows each rank one GPU, which"
        " then is device 0."
    ),
    fix="hvdkit.torch's hvd.init() picks it; or -H host:SLOTS with as many slots as GPUs",
    find=says(
        r"CUDA error: invalid device ordinal",
        in_job=True,
    ),
    excerpt="",
    on_gpu=True,
)
