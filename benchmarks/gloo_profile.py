"""Show what Horovod's steps cost more than DDP's where Gloo carries both, on two ranks of this machine.

    python benchmarks/gloo_profile.py [--rounds 20]

The same two processes have Horovod and a process group, and exchange the gradients of a model in turns, with
nothing else under way: as one tensor through DDP's library, which is what a bucket is; as one tensor through
Horovod; and tensor by tensor through Horovod, which fuses them. Printed are seconds, and seconds of the
process's threads, over those of the process group's, as the median of the rounds with the quartiles; then
what Horovod's thread takes of a core while nothing is sent.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import distributed

from hvdkit.bench.blocks import orders, spread
from hvdkit.bench.models import MODELS

IDLE_S = 3.0
Exchange = Callable[[], object]


def exchanges(shapes: Sequence[torch.Size]) -> dict[str, Exchange]:
    """The three ways; the first is what the others are compared with."""
    import horovod.torch as hvd

    whole = torch.zeros(sum(shape.numel() for shape in shapes))
    parts = [torch.zeros(shape) for shape in shapes]

    def fused() -> None:
        handles = [
            hvd.allreduce_async_(part, op=hvd.Average, name=f"part.{number}")
            for number, part in enumerate(parts)
        ]
        for handle in handles:
            hvd.synchronize(handle)

    return {
        "process group, one tensor": lambda: distributed.all_reduce(whole),
        "Horovod, one tensor": lambda: hvd.allreduce_(whole, op=hvd.Average, name="whole"),
        "Horovod, tensor by tensor": fused,
    }


def taken(exchange: Exchange) -> tuple[float, float]:
    """Seconds of the clock, and of the threads of this process."""
    distributed.barrier()
    clock, threads = time.perf_counter(), time.process_time()
    exchange()
    return time.perf_counter() - clock, time.process_time() - threads


def work(rounds: int, store: str) -> None:
    """One rank."""
    import horovod.torch as hvd

    torch.set_num_threads(1)
    hvd.init()
    distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=hvd.rank(), world_size=hvd.size()
    )
    for name in ("resnet18", "transformer"):
        model, _ = MODELS[name]()
        ways = exchanges([parameter.shape for parameter in model.parameters()])
        found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for order in orders(list(ways), rounds + 1):
            for way in order:
                found[way].append(taken(ways[way]))
        usual, *others = (found[way][1:] for way in ways)  # the first makes buffers and connections
        for way, each in zip(list(ways)[1:], others):
            clock, threads = ([one[at] / other[at] for one, other in zip(each, usual)] for at in (0, 1))
            if hvd.rank() == 0:
                print(f"{name:12} {way:26} time {spread(clock)}, of threads {spread(threads)}")
    idle = time.process_time()
    time.sleep(IDLE_S)
    idle = time.process_time() - idle
    if hvd.rank() == 0:
        print(f"nothing is sent: Horovod's thread takes {100 * idle / IDLE_S:.1f} % of a core")
    distributed.destroy_process_group()
    hvd.shutdown()


def main() -> int:
    """Start the two ranks; what they print is the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--work", metavar="STORE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.rounds, asked.work)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, "-m", "hvdkit", "run", "--gloo", "-np", "2", sys.executable, __file__]
        command = [*start, "--rounds", str(asked.rounds), "--work", str(Path(folder, "store"))]
        root = str(Path(__file__).resolve().parents[1])
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root}
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
