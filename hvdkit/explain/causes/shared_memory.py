"""/dev/shm is full."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="shared_memory",
    title="/dev/shm is too small{where}",
    why=(
        "DataLoader workers hand their batches over in shared memory, and all ranks of a host share one"
        " /dev/shm: a container gets 64 MB of it unless told otherwise."
    ),
    fix=(
        "df -h /dev/shm shows it; docker run --shm-size 8g or --ipc host, in Kubernetes an emptyDir of medium"
        " Memory on /dev/shm; or fewer num_workers"
    ),
    find=says(
        r"unable to (?:allocate|open|mmap|resize) shared memory ?\(shm\)",
        r"Unexpected bus error encountered in worker",
        r"is killed by signal: Bus error",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: unable to allocate shared memory(shm) for file </torch_
""",
)
