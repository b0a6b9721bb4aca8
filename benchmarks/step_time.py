"""Time a training step under Horovod, DDP, hvdkit.torch without Horovod, and no communication; print ratios.

    python benchmarks/step_time.py [--blocks 10] [--gloo]

Three models (an MLP, ResNet-18 on 32 x 32 images, a small transformer) train on two ranks of this machine,
with the optimizer that each library recommends. A block is one job of each kind, one after another, in an
order that turns from block to block; the jobs of a block are compared with each other alone, so what else
the machine does affects them all. A job's time is the median over its steps on rank 0, the first ones left
out. Printed are the median and the quartiles over the blocks of

- Horovod under `hvdkit run`, as it chooses its controller (--gloo: Gloo), over DDP with Gloo under torchrun
- hvdkit.torch on torch.distributed with Gloo (HVDKIT_ENGINE=torch) over DDP, by pairs of steps of one process
- Horovod and DDP over the limit: the same two processes, which exchange nothing

Exit code 1 where Horovod's median is above the goal: 0.98 of DDP's, or 1.15 with --gloo on the two larger
models; and where that of hvdkit.torch is above 1.05 of DDP's on these two.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from hvdkit.bench.blocks import orders, spread
from hvdkit.bench.models import MODELS

KINDS = ("horovod", "ddp", "engine", "limit")
WARM_UP = 3  # steps
GOAL, GOAL_GLOO, GOAL_ENGINE = 0.98, 1.15, 1.05
LIMIT_S = 600


# What a table calls each model of hvdkit.bench.models, and its steps.
SHOWN = {"mlp": ("MLP", 40), "resnet18": ("ResNet-18", 10), "transformer": ("transformer", 20)}


def train(kind: str) -> dict[str, float]:
    """On each rank: seconds of a step of each model."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return {name: step_time(kind, MODELS[model], steps) for model, (name, steps) in SHOWN.items()}


def train_in_pairs() -> dict[str, float]:
    """On each rank: a step of hvdkit.torch over a step of DDP, for each model. Both are on torch.distributed:
    one process takes them in turns, and whatever else the machine does is in both.
    """
    torch.set_num_threads(1)
    return {name: ratio_of_steps(MODELS[model], steps) for model, (name, steps) in SHOWN.items()}


def ratio_of_steps(make: Callable[[], tuple[nn.Module, torch.Tensor]], steps: int) -> float:
    """The median over pairs of steps."""
    ours, ddp = stepping("engine", make), stepping("ddp", make)
    ratios = []
    for number in range(WARM_UP + steps):
        if number % 2:
            first, second = ours(), ddp()
        else:
            second, first = ddp(), ours()
        ratios.append(first / second)
    return statistics.median(ratios[WARM_UP:])


def step_time(kind: str, make: Callable[[], tuple[nn.Module, torch.Tensor]], steps: int) -> float:
    """Median seconds of a step."""
    step = stepping(kind, make)
    return statistics.median([step() for _ in range(WARM_UP + steps)][WARM_UP:])


def stepping(kind: str, make: Callable[[], tuple[nn.Module, torch.Tensor]]) -> Callable[[], float]:
    """A function that takes a step, and returns its seconds."""
    model, x = make()
    optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    if kind == "horovod":
        import horovod.torch as hvd

        optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    elif kind == "engine":
        import hvdkit.torch as ours

        optimizer = ours.DistributedOptimizer(optimizer, model)
        ours.broadcast(model)
    elif kind == "ddp":
        model = nn.parallel.DistributedDataParallel(model)

    def step() -> float:
        began = time.perf_counter()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return time.perf_counter() - began

    return step


def work(kind: str, output: Path) -> None:
    """One rank of a job."""
    rank = int(os.environ.get("RANK", "0"))
    if kind == "horovod":
        import horovod.torch as hvd

        hvd.init()
        rank = hvd.rank()
    elif kind == "engine":
        import hvdkit.torch as ours

        ours.init()
    else:
        torch.distributed.init_process_group("gloo")
    found = train_in_pairs() if kind == "engine" else train(kind)
    if rank == 0:
        output.write_text(json.dumps(found))


def job(kind: str, output: Path, gloo: bool) -> dict[str, float]:
    """Run a job of one kind on two ranks. Ends the program with its output where it fails."""
    work_line = [__file__, "--work", kind, "--output", str(output)]
    if kind == "horovod":
        controller = ["--gloo"] if gloo else []
        command = [sys.executable, "-m", "hvdkit", "run", *controller, "-np", "2", sys.executable, *work_line]
    else:
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", *work_line]
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root, "HVDKIT_ENGINE": "torch"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\n{kind} ended with exit code {done.returncode}")
    found: dict[str, float] = json.loads(output.read_text())
    return found


def main() -> int:
    """Run the blocks, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--gloo", action="store_true")
    parser.add_argument("--work", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path("step_time.json"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, asked.output)
        return 0
    blocks: list[dict[str, dict[str, float]]] = []
    for number, order in enumerate(orders(KINDS, asked.blocks)):
        blocks.append({kind: job(kind, asked.output.absolute(), asked.gloo) for kind in order})
        print(f"block {number + 1} of {asked.blocks}", file=sys.stderr)
    asked.output.unlink()
    pairs = (("horovod", "ddp"), ("horovod", "limit"), ("ddp", "limit"))
    titles = [f"{one} / {other}" for one, other in (*pairs, ("hvdkit.torch", "ddp"))]
    print(f"{'model':12} " + " ".join(f"{title:>22}" for title in titles))
    missed = False
    for model, _ in SHOWN.values():
        ratios = [[block[one][model] / block[other][model] for block in blocks] for one, other in pairs]
        ratios.append([block["engine"][model] for block in blocks])
        print(f"{model:12} " + " ".join(f"{spread(found)!s:>22}" for found in ratios))
        large = model != "MLP"
        goal = GOAL_GLOO if asked.gloo else GOAL
        missed |= statistics.median(ratios[0]) > goal and (large or not asked.gloo)
        missed |= statistics.median(ratios[-1]) > GOAL_ENGINE and large
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
