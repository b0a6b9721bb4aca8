"""Bandwidth and latency of a real allreduce: `python -m hvdkit.doctor.allreduce` as every rank of a job.

Bus bandwidth is what nccl-tests defines (doc/PERFORMANCE.md): 2 (n - 1) / n times the bytes of one rank's
tensor, divided by the time. It does not depend on the number of ranks and compares with what a link can do.
"""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

SIZES = (4, 2**16, 2**20, 2**24, 2**26)  # bytes
_REPEATS = 5
_MARK = "hvdkit allreduce "


@dataclass(frozen=True)
class Measured:
    """One size. size: bytes of a rank's tensor. seconds: median of one allreduce, the slowest rank's.
    bus: bytes per second of bus bandwidth.
    """

    size: int
    ranks: int
    seconds: float
    bus: float


def bus_bandwidth(size: int, ranks: int, seconds: float) -> float:
    """Bytes per second: 2 (n - 1) / n * size / seconds (nccl-tests, doc/PERFORMANCE.md)."""
    return 2 * (ranks - 1) / ranks * size / seconds


def measure() -> list[Measured]:
    """Each size in turn, on every rank of a job that has called init(); the same result on all."""
    torch, hvd = import_module("torch"), import_module("horovod.torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    results = []
    for size in SIZES:
        tensor = torch.zeros(size // 4, dtype=torch.float32, device=device)
        times = []
        for turn in range(_REPEATS + 1):
            hvd.barrier()
            began = time.perf_counter()
            hvd.allreduce(tensor, op=hvd.Sum, name=f"doctor.{size}")
            if device == "cuda":
                torch.cuda.synchronize()
            if turn:  # the first one also makes buffers and connections
                times.append(time.perf_counter() - began)
        slowest = hvd.allreduce(
            torch.tensor(statistics.median(times)), op=hvd.Max, name=f"doctor.{size}.time"
        )
        seconds = float(slowest)
        results.append(Measured(size, hvd.size(), seconds, bus_bandwidth(size, hvd.size(), seconds)))
    return results


def report(results: list[Measured]) -> str:
    """A line that `find` finds in the output of a job."""
    return _MARK + json.dumps([asdict(result) for result in results])


def find(output: str) -> list[Measured]:
    """The results in a job's output; none where no rank printed them."""
    for line in output.splitlines():
        _, mark, data = line.partition(_MARK)
        if mark:
            return [Measured(**result) for result in json.loads(data)]
    return []


def table(results: list[Measured]) -> str:
    """For people."""
    rows = [f"{'bytes':>10}  {'time':>10}  {'bus bandwidth':>14}"]
    for result in results:
        gigabits = result.bus * 8 / 1e9
        rows.append(f"{result.size:>10}  {result.seconds * 1e3:>7.2f} ms  {gigabits:>9.2f} Gb/s")
    return "\n".join(rows)


def main() -> None:
    """Measure; rank 0 prints."""
    hvd: Any = import_module("horovod.torch")
    hvd.init()
    results = measure()
    if hvd.rank() == 0:
        print(report(results), flush=True)
    hvd.shutdown()


if __name__ == "__main__":
    main()
