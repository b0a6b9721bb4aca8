"""/dev/shm is full."""

from __future__ import annotations

import re
import signal

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.ended import by_signal
from hvdkit.explain.log import Log

# PyTorch, Python, NCCL and Open MPI say it.
_SAYS = says(
    r"unable to (?:allocate|open|mmap|resize) shared memory ?\(shm\)|unable to write to file </torch_",
    r"Unexpected bus error encountered in worker|is killed by signal: Bus error",
    r"workers are out of shared memory|raise your shared memory limit",
    r"No space left on device: '?/(?:dev/shm|psm_|torch_)",
    r"NCCL WARN (?:Call to (?:posix_fallocate|ftruncate|shm_\w+)[^\n]*No space left"
    r"|Error(?::| while) (?:creating|attaching to|failed to extend) [^\n]*/dev/shm)",
    r"not enough space for /dev/shm/|shared memory initialization[\s\S]{0,300}?No space left on device",
    in_job=True,
)
_BUS = re.compile(r"Signal: Bus error \(\d+\)|Fatal Python error: Bus error|EXIT STRING: Bus error")
# The other thing that a bus error may be.
_ALIGNMENT = re.compile(r"Signal code: Invalid address alignment")


def find(log: Log) -> Match | None:
    told = _SAYS(log)
    if told:
        return Match(told.line, {"seen": "/dev/shm is too small{where}".format_map(told.facts)})
    hit = log.search(_BUS)
    ended = by_signal(log, signal.SIGBUS)
    if log.search(_ALIGNMENT) or not (hit or ended) or not log.is_job:
        return None
    rank = hit.line.rank if hit else ended.rank if ended else None
    line = hit.line.number if hit else ended.line if ended else 0
    where = "" if rank is None else f" on rank {rank}"
    return Match(line, {"seen": f"a bus error{where}, as a full or too small /dev/shm gives"})


CAUSE = Cause(
    id="shared_memory",
    title="{seen}",
    why=(
        "DataLoader workers hand their batches over in shared memory, NCCL and MPI connect the ranks of "
        "a host"
        " through it, and all share one /dev/shm: a container gets 64 MB of it by default. "
        "Memory of it"
        " that is not there ends a process with a bus error."
    ),
    fix=(
        "df -h /dev/shm shows it; docker run --shm-size 8g or --ipc host, in Kubernetes an emptyDir of medium"
        " Memory on /dev/shm; or fewer num_workers"
    ),
    find=find,
    excerpt="""\
RuntimeError: unable to allocate shared memory(shm) for file </torch_
""",
    general={"seen": "/dev/shm is too small"},
)
