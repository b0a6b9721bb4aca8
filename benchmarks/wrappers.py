"""Step time of hvdkit.torch against plain horovod.torch, in one run on the same ranks.

    horovodrun -np 2 --gloo -H localhost:2 python benchmarks/wrappers.py

Two copies of each model train in alternating blocks, one with each optimizer, so that whatever else the
machine does falls on both: many short blocks say more than few long ones. A block's ratio is the time of its
hvdkit half over that of its Horovod half; the order of the halves alternates. Prints the median ratio per
model, with the smallest and largest.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import horovod.torch
import torch
from torch import Tensor, nn

import hvdkit.torch as hvd

GOAL = 1.01


@dataclass(frozen=True)
class Result:
    """Of one model. Times are medians in milliseconds per step; ratios are hvdkit over Horovod."""

    model: str
    horovod_ms: float
    hvdkit_ms: float
    ratio: float
    smallest: float
    largest: float


def conv_net() -> tuple[nn.Module, Tensor]:
    """Four convolutions with batch normalization, and images."""
    layers: list[nn.Module] = []
    for before, after in ((3, 16), (16, 32), (32, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 4, 10)), torch.randn(8, 3, 32, 32)


def fully_connected() -> tuple[nn.Module, Tensor]:
    """Four layers."""
    widths = (256, 512, 512, 256, 10)
    layers = [nn.Linear(before, after) for before, after in zip(widths, widths[1:])]
    hidden = [part for layer in layers[:-1] for part in (layer, nn.ReLU())]
    return nn.Sequential(*hidden, layers[-1]), torch.randn(16, 256)


def stepper(build: Callable[[], tuple[nn.Module, Tensor]], with_hvdkit: bool) -> Callable[[int], float]:
    """A function that takes so many steps and returns seconds per step."""
    torch.manual_seed(0)
    model, inputs = build()
    targets = torch.randint(0, 10, (len(inputs),))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if with_hvdkit:
        optimizer = hvd.DistributedOptimizer(optimizer, model)
    else:
        named = model.named_parameters(prefix="plain")
        optimizer = horovod.torch.DistributedOptimizer(optimizer, named_parameters=named)

    def run(steps: int) -> float:
        hvd.barrier()
        start = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
        return (time.perf_counter() - start) / steps

    return run


def measure(build: Callable[[], tuple[nn.Module, Tensor]], blocks: int, steps: int) -> Result:
    """Run the pair; the first block of each, with its allocations, is not counted."""
    ours, theirs = stepper(build, True), stepper(build, False)
    times = []
    for block in range(blocks + 1):
        if block % 2:
            plain, wrapped = theirs(steps), ours(steps)
        else:
            wrapped, plain = ours(steps), theirs(steps)
        times.append((wrapped, plain))
    ratios = [wrapped / plain for wrapped, plain in times[1:]]
    return Result(
        model=build.__name__,
        horovod_ms=1e3 * statistics.median(plain for _, plain in times[1:]),
        hvdkit_ms=1e3 * statistics.median(wrapped for wrapped, _ in times[1:]),
        ratio=statistics.median(ratios),
        smallest=min(ratios),
        largest=max(ratios),
    )


def main() -> int:
    """Exit code 0 if every median ratio is at most GOAL, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--blocks", type=int, default=200, help="pairs of blocks per model (default: 200)")
    parser.add_argument("--steps", type=int, default=5, help="steps per block (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per model")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    hvd.init()
    results = [measure(build, arguments.blocks, arguments.steps) for build in (conv_net, fully_connected)]
    if hvd.rank() == 0:
        if not arguments.json:
            print(f"{'model':<16} {'horovod ms':>11} {'hvdkit ms':>10} {'ratio':>7} {'min':>7} {'max':>7}")
        for r in results:
            times = f"{r.horovod_ms:>11.3f} {r.hvdkit_ms:>10.3f}"
            line = f"{r.model:<16} {times} {r.ratio:>7.4f} {r.smallest:>7.4f} {r.largest:>7.4f}"
            print(json.dumps(asdict(r)) if arguments.json else line)
    return int(hvd.rank() == 0 and any(result.ratio > GOAL for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
