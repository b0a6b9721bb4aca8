"""HVD005: averages before each step, where DDP would not average all that an optimizer trains."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.averaged_before_steps import averaged_before_steps
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, Slot


def check(facts: Facts) -> Iterator[Finding]:
    for found in averaged_before_steps(facts):
        names = found.names
        if names.source.original is not None:
            start = names.source.start(names.statement(found.node))
            message = (
                "the optimizer averages before each step what it trains: DDP would not average all of it"
            )
            written = (Edit(start, start, "", Slot.NOTE),)  # the text holds it already, and has to be written
            yield safe(facts, "HVD005", names, found.node, message, written)


RULE = Rule(
    id="HVD005",
    title="Averages before each step",
    what="Averages what an optimizer trains in a function that runs before each of its steps, where DDP would not "
    "average all of it: a method or a part of the model computes the loss, backward() is called several times for "
    "one forward(), parameters are frozen while it trains, or the optimizer trains what no module holds.",
    why="Horovod averages the gradients of every parameter of the optimizer, however they were computed. DDP "
    "averages what the forward() of its wrapper computes, and the ranks would silently diverge.",
    safety="Safe: as with Horovod, missing gradients are zeros, and synchronize() and skip_synchronize() do the "
    "same. Gradients are sent when backward() is done, where Horovod and DDP send them while it runs: a step may "
    "take longer. A step with a closure raises an error. Needs PyTorch 2.0 or later.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            scale = torch.nn.Parameter(torch.ones(1))
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD([scale], lr=0.1))
            """,
            '''\
            import torch
            import torch.distributed as dist
            import contextlib


            def average_before_steps(optimizer, half=False):
                """The optimizer, which averages over all ranks what it trains before each step; half: sent as float16."""
                held = [each for group in optimizer.param_groups for each in group["params"] if each.requires_grad]
                held, skipping = dict.fromkeys(held), []

                @torch.no_grad()
                def synchronize():
                    steps = [each for group in optimizer.param_groups for each in group["params"]]
                    more = [each for each in steps if each.requires_grad and each not in held]
                    alike = {}
                    if not held.keys() <= set(steps):
                        more = []  # apex steps copies of its own
                    for parameter in (*held, *more):
                        if parameter.grad is None:
                            parameter.grad = torch.zeros_like(parameter)
                        alike.setdefault((parameter.grad.device, parameter.grad.dtype), []).append(parameter.grad)
                    for gradients in alike.values():
                        total = torch.cat([gradient.reshape(-1) for gradient in gradients])
                        total = (total.half() if half else total).div_(dist.get_world_size())
                        dist.all_reduce(total)
                        for gradient, mean in zip(gradients, total.split([each.numel() for each in gradients])):
                            gradient.copy_(mean.view_as(gradient))

                @contextlib.contextmanager
                def skip_synchronize():
                    skipping.append(True)
                    try:
                        yield
                    finally:
                        skipping.pop()

                def before_step(_, args, kwargs):
                    if any(closure is not None for closure in (*args[1:], *kwargs.values())):
                        raise RuntimeError("step() with a closure computes gradients that are not averaged")
                    if not skipping:
                        synchronize()

                optimizer.synchronize, optimizer.skip_synchronize = synchronize, skip_synchronize
                optimizer.register_step_pre_hook(before_step)
                return optimizer

            scale = torch.nn.Parameter(torch.ones(1))
            optimizer = average_before_steps(torch.optim.SGD([scale], lr=0.1))
            ''',
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 2))
            model.module(torch.ones(1, 2)).sum().backward()
            """,
            reason="the program does not come from Horovod",
        ),
    ),
)
