"""A GPU's memory is used up."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_memory",
    title="the GPU's memory is used up{where}",
    why=("If it is one rank alone, several ranks share its GPU; else the batch is too large for it."),
    fix=(
        "torch.cuda.set_device(hvd.local_rank()) right after hvd.init(), before anything touches "
        "CUDA; then a smaller batch"
    ),
    find=says(
        r"(?:torch\.(?:cuda\.)?OutOfMemoryError|CUDA out of memory|CUDA error: out of memory)[^\n]*",
        r"CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED|Cuda failure 'out of memory'",
        r"OOM when allocating tensor(?![^\n]*(?:CPU|allocator cpu))",
        in_job=True,
    ),
    excerpt="",
    on_gpu=True,
)
