"""Jobs on a host that has too little: shared memory, memory (needs root, unshare and a cgroup to limit)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from failures.jobs import BIN, LAUNCH, Failure, output
from failures.programs import START

WORKERS = (
    START
    + """\
data = torch.utils.data.TensorDataset(torch.zeros(64, 3, 256, 256))
for (images,) in torch.utils.data.DataLoader(data, batch_size=16, num_workers=1):
    hvd.allreduce(images.mean(), name="mean")
"""
)
# A data set that keeps what it has decoded in shared memory, which is given out page by page.
CACHE = (
    START
    + """\
from multiprocessing.shared_memory import SharedMemory

class Cached(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        cache = SharedMemory(create=True, size=1 << 25)
        cache.buf[:] = bytes(1 << 25)
        return torch.zeros(4)

for images in torch.utils.data.DataLoader(Cached(), num_workers=1):
    hvd.allreduce(images.mean(), name="mean")
"""
)
GROWS = (
    START
    + "kept = []\nwhile rank == 1:\n    kept.append(torch.ones(1 << 24))\n"
    + ("hvd.allreduce(torch.ones(1), name='loss')\n")
)
SMALL_SHM = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=8m tmpfs /dev/shm && exec "$@"', "sh"]
CGROUP = Path("/sys/fs/cgroup/memory/hvdkit-explain")


def launched(script: str, controller: str, before: Sequence[str]) -> str:
    """Output of a job on 2 ranks that another command starts."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        Path(folder, "train.py").write_text(script)
        horovodrun = [str(BIN / "horovodrun"), "-np", "2", "-H", "localhost:2", *LAUNCH[controller]]
        return output([*before, *horovodrun, sys.executable, "train.py"], Path(folder))


def out_of_memory(controller: str) -> str:
    """The kernel kills the rank that takes most, as it does in a container with a limit."""
    CGROUP.mkdir()
    try:
        (CGROUP / "memory.limit_in_bytes").write_text("2G")
        enter = ["sh", "-c", f'echo $$ > {CGROUP}/cgroup.procs && exec "$@"', "sh"]
        return launched(GROWS, controller, enter)
    finally:
        CGROUP.rmdir()


FAILURES = [
    *(
        Failure("shared_memory", f"workers_{c}", lambda c=c: launched(WORKERS, c, SMALL_SHM))  # type: ignore[misc]
        for c in LAUNCH
    ),
    *(
        Failure("shared_memory", f"cache_{c}", lambda c=c: launched(CACHE, c, SMALL_SHM))  # type: ignore[misc]
        for c in LAUNCH
    ),
    *(Failure("killed", f"out_of_memory_{c}", lambda c=c: out_of_memory(c)) for c in LAUNCH),  # type: ignore[misc]
]
