"""NCCL failed."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="nccl",
    title="NCCL failed{where}",
    why=(
        "The GPUs could not be connected: a wrong interface, too little /dev/shm, or a driver "
        "that does not fit."
    ),
    fix="NCCL_DEBUG=INFO NCCL_SOCKET_IFNAME=eth0 horovodrun ... names the call that fails",
    find=says(
        r"NCCL error[^\n]*",
        r"ncclSystemError|ncclUnhandledCudaError|ncclInternalError|ncclCommInitRank failed",
        # Of these lines others say more, or NCCL goes on.
        r"NCCL WARN (?!Duplicate|[^\n]*(?:[Cc]onnect|libibverbs|iommu=pt|ibv_|out of memory|No space left"
        r"|/dev/shm))",
        in_job=True,
    ),
    excerpt="",
    level=Level.WAITS,
    on_gpu=True,
    generic=True,
)
