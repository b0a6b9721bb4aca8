"""Train under Horovod with a planted cause, for a timeline of it: `horovodrun -np 2 python provoke.py CASE`.

The timelines in provoked/ are its own: HOROVOD_CACHE_CAPACITY=0, two ranks, Gloo, Horovod 0.28.1. "no-fusion"
ran with HOROVOD_FUSION_THRESHOLD=0; "slow-link" in a network namespace whose loopback has an MTU of 1500 and
`tc qdisc add dev lo root tbf rate 200mbit burst 256kb latency 1s`; "cached" is "plain" with the cache.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import horovod.torch as hvd
import torch

STEPS = 8
CASE = sys.argv[1]


class Computed(torch.autograd.Function):
    """Takes the time of a larger layer, and of a slower one on the last rank where that is planted."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        return x

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        slow = CASE == "slow-rank" and hvd.rank() == hvd.size() - 1
        time.sleep(0.025 if slow else 0.005)
        return gradient


class Layer(torch.nn.Linear):
    """Linear, with that time."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Computed.apply(super().forward(x)) if CASE != "no-fusion" else super().forward(x)  # type: ignore[no-any-return]


def main() -> None:
    """Train for a few steps."""
    hvd.init()
    torch.manual_seed(0)
    layers, width = (
        (16, 16) if CASE == "no-fusion" else (5, 768 if CASE in ("late-move", "slow-link") else 64)
    )
    model = torch.nn.Sequential(*(Layer(width, width) for _ in range(layers)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    if CASE == "late-move":
        model.double()  # the nodes that Horovod's hooks hang on are of the old type: as after .cuda()
    kind = next(model.parameters()).dtype
    for _ in range(STEPS):
        time.sleep(0.085 if CASE == "late-start" and hvd.rank() == hvd.size() - 1 else 0.005)
        optimizer.zero_grad()
        loss = model(torch.ones(4, width, dtype=kind)).square().mean()
        loss.backward()
        optimizer.step()
        if CASE == "blocking":
            for name in ("loss", "accuracy", "norm", "rate"):
                hvd.allreduce(loss.detach(), name=name)
    hvd.shutdown()


if __name__ == "__main__":
    main()
