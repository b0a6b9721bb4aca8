"""Python got no more memory."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="memory_error",
    title="the host's memory is used up{where}",
    why=(
        "Python asked for more than the system or a limit gives (ulimit -v, the job's limit): each rank "
        "loads its own copy of the data."
    ),
    fix=(
        "load a share per rank (a DistributedSampler over a data set that reads on demand), fewer ranks "
        "per host, or more memory"
    ),
    find=says(
        r"^(?:numpy\.\S*_ArrayMemoryError|MemoryError)\b",
        r"DefaultCPUAllocator: (?:can't|not enough memory)[^\n]*",
        r"OOM when allocating tensor[^\n]*(?:CPU|allocator cpu)",
        r"OSError: \[Errno 12\] Cannot allocate memory",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: [enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory: you ...
""",
    level=Level.OWN,
    source="https://github.com/ashkamath/mdetr/issues/16",
)
