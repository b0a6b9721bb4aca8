"""A kernel's assertion failed on the GPU."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_assert",
    title="a check on the GPU failed{where}: an index, a label or an input is out of range",
    why=(
        "A kernel checks its input and stopped: usually a label that is not below the number of "
        "classes, or an index outside an embedding. CUDA reports it later, at a different call than the one "
        "that caused it."
    ),
    fix=(
        "CUDA_LAUNCH_BLOCKING=1 names the line; the same batch on the CPU names the index; check "
        "labels.max() against the number of classes on all ranks"
    ),
    find=says(
        r"device-side assert triggered",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: CUDA error: device-side assert triggered
""",
    on_gpu=True,
    source="https://github.com/horovod/horovod/issues/1421",
)
