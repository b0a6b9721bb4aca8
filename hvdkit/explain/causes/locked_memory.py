"""InfiniBand may not lock enough memory."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="locked_memory",
    title="InfiniBand may not lock enough memory{where}",
    why=(
        "An RDMA device works on memory that cannot be swapped out, and the limit for that (ulimit -l) "
        "is 64 KB in many systems and containers: its queues and buffers cannot be registered."
    ),
    fix=(
        "`ulimit -l` must print unlimited on every host, in the shell that starts the ranks (memlock in "
        "limits.conf, LimitMEMLOCK of sshd and slurmd, docker run --ulimit memlock=-1); or without "
        "InfiniBand: NCCL_IB_DISABLE=1, mpirun --mca btl ^openib"
    ),
    find=says(
        r"WARN Call to ibv_(?:create_(?:qp|cq)|reg_mr\w*) failed",
        r"ibv_(?:create_(?:qp|cq)|reg_mr\w*)(?:\([^)\n]*\))? failed: Cannot allocate memory",
        r"while trying to\s+allocate some locked memory",
        in_job=True,
    ),
    excerpt="""\
machine [0] misc/ibvwrap.cu:269 NCCL WARN Call to ibv_create_qp failed
""",
    source="https://github.com/horovod/horovod/issues/98",
)
