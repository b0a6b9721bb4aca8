"""What the watch of `hvdkit run` adds to a job: the same training with it and without, as a ratio.

Both take turns in one process on each of two ranks, in alternating order, so that they see the same machine.
What is recorded at steps 1, 10, 100 and 1,000 is part of the time. Counted is the time of the processor that
the training thread takes: on a machine with other work, the clock counts that as well. Prints that ratio, and
the clock's beside it; exit code 1 above 1.01.

    python benchmarks/watch.py [--steps 1000]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOUND = 1.01
ROUND = 50  # steps with the watch, then as many without


def train(steps: int) -> None:
    """On each rank: two models of one kind, one of them watched."""
    with tempfile.TemporaryDirectory() as name:
        from hvdkit.sync.folder import VARIABLE, prepare

        prepare(Path(name))
        os.environ[VARIABLE] = name
        from hvdkit.watch.start import start

        spent = {"watched": 0.0, "alone": 0.0}
        passed = dict(spent)
        # What the watch puts around torch's steps is taken off and put on again between rounds.
        import horovod.torch as plain
        import torch
        from horovod.torch import mpi_ops
        from horovod.torch import optimizer as optimizers
        from horovod.torch.optimizer import _DistributedOptimizer as Horovod
        from torch.optim import Optimizer

        waits, calls = {"alone": Horovod.synchronize}, {"alone": mpi_ops.synchronize}
        start()
        waits["watched"], calls["watched"] = Horovod.synchronize, mpi_ops.synchronize
        from torch.optim import optimizer as hooks

        pre, post = hooks._global_optimizer_pre_hooks, hooks._global_optimizer_post_hooks
        kept = dict(pre), dict(post)
        plain.init()
        torch.manual_seed(0)
        kinds = {}
        for kind in spent:
            Horovod.synchronize = waits[kind]
            model = torch.nn.Sequential(
                torch.nn.Linear(256, 512),
                torch.nn.ReLU(),
                torch.nn.Linear(512, 512),
                torch.nn.ReLU(),
                torch.nn.Linear(512, 10),
            )
            optimizer: Optimizer = torch.optim.Adam(model.parameters())
            named = model.named_parameters(prefix=kind)
            kinds[kind] = model, plain.DistributedOptimizer(optimizer, named_parameters=named)
            plain.broadcast_parameters(model.state_dict(), root_rank=0)
        batch = torch.randn(256, 256)
        for begin in range(0, steps, ROUND):
            order = list(kinds.items())
            for kind, (model, optimizer) in order if begin // ROUND % 2 else reversed(order):
                optimizers.synchronize = calls[kind]
                for hooked, all_hooks in zip((pre, post), kept):
                    hooked.clear()
                    hooked.update(all_hooks if kind == "watched" else {})
                plain.allreduce(torch.ones(1), name="together")
                began, clock = time.thread_time(), time.perf_counter()
                for _ in range(min(ROUND, steps - begin)):
                    optimizer.zero_grad()
                    model(batch).square().mean().backward()
                    optimizer.step()
                spent[kind] += time.thread_time() - began
                passed[kind] += time.perf_counter() - clock
        if plain.rank() == 0:
            ratios = [taken["watched"] / taken["alone"] for taken in (spent, passed)]
            print("ratio", *(f"{ratio:.4f}" for ratio in ratios), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    asked = parser.parse_args()
    if "HOROVOD_RANK" in os.environ:
        train(asked.steps)
        return 0
    command = [str(Path(sys.executable).with_name("horovodrun")), "-np", "2", "--gloo", sys.executable]
    done = subprocess.run(
        [*command, __file__, "--steps", str(asked.steps)], stdout=subprocess.PIPE, text=True, check=True
    )
    ratio, clock = map(float, done.stdout.rpartition("ratio ")[2].split())
    print(f"{asked.steps} steps with the watch take {ratio:.4f} times what they take without", end="")
    print(f" ({clock:.4f} by the clock)")
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main())
