"""One rank of a measured job: `python -m hvdkit.bench.rank KIND STEPS WHAT ...`.

KIND: horovod, ddp or one (hvdkit.bench.links). WHAT: a model of hvdkit.bench.models, or a script with its
arguments, which runs unchanged until it has taken so many steps. Rank 0 prints what all have measured.
"""

from __future__ import annotations

import runpy
import socket
import statistics
import sys
from pathlib import Path

import torch
from torch.optim import Optimizer

from hvdkit.bench.clock import Clock, trained
from hvdkit.bench.links import LINKS, Horovod, Link
from hvdkit.bench.models import MODELS
from hvdkit.bench.recorded import Recorded, line


def main(kind: str, steps: int, what: list[str]) -> None:
    """Train and measure. Ends the process once the steps are taken."""
    target, is_model = what[0], what[0] in MODELS
    # A script of one rank is a Horovod script, too: it calls hvd.init() itself, as it does for more.
    link = LINKS["horovod" if kind == "one" and not is_model else kind]()
    torch.manual_seed(0)
    made = MODELS[target]() if is_model else None
    samples = len(made[1]) if made else 0
    clock = Clock(steps, kind == "one", lambda optimizer: _end(link, clock, samples, optimizer))
    clock.watch()
    if isinstance(link, Horovod):
        clock.watch_waits()
    if made:
        device = link.connect()
        _train(link, made[0].to(device), made[1].to(device))
    sys.argv = what
    sys.path.insert(0, str(Path(target).resolve().parent))
    runpy.run_path(target, run_name="__main__")
    print(f"hvdkit: {target} ended after {clock.taken} steps, and {clock.needed} are needed", file=sys.stderr)
    sys.exit(1)


def _train(link: Link, model: torch.nn.Module, batch: torch.Tensor) -> None:
    """Take steps until the clock ends the process. batch: N x what the model takes."""
    optimizer: Optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    model, optimizer = link.wrapped(model, optimizer)
    while True:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


def _end(link: Link, clock: Clock, samples: int, optimizer: Optimizer) -> None:
    """Gather what all ranks have measured, print it, and end."""
    parameters = trained(optimizer)
    exchanges = link.exchanges(parameters)
    alone = statistics.median(exchanges) if exchanges else 0.0
    own = (socket.gethostname(), clock.computed, clock.waited, alone)
    hosts, computed, waited, exchanged = zip(*link.gathered(own))
    if link.rank == 0:
        recorded = Recorded(
            hosts=list(hosts),
            device=_device(parameters[0].device),
            controller=link.controller,
            threads=torch.get_num_threads(),
            samples=samples,
            computed=list(computed),
            waited=list(waited),
            size=sum(each.numel() * each.element_size() for each in parameters),
            alone=max(exchanged),
            backward=clock.backward,
            gradients=clock.gradients,
        )
        print(line(recorded), flush=True)
    link.leave()
    sys.exit(0)


def _device(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
