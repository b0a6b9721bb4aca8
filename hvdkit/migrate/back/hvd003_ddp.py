"""HVD003: DistributedOptimizer becomes DDP around the models that it trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.ddp_wraps import ddp_wraps
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.through_ddp import written_wraps
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_arguments import NO_ADASUM
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for wrapping in ddp_wraps(facts):  # those that the text was not wrapped for
        names, node = wrapping.at or (wrapping.wrap.names, wrapping.wrap.node)
        message = f"nothing can take the place of DistributedOptimizer: {wrapping.problem}"
        yield refused("HVD003", names, node, message, "change its arguments, or keep Horovod")
    for site in written_wraps(facts):
        start = site.names.source.start(site.names.statement(site.node))
        message = "the model is wrapped in DDP, which broadcasts its weights and averages its gradients"
        written = (Edit(start, start, "", Slot.NOTE),)  # the text holds it already, and has to be written
        yield safe(facts, "HVD003", site.names, site.node, message, written)
    for names in dict.fromkeys(site.names for site in written_wraps(facts)):
        yield from _stops(names)


def _stops(names: Names) -> Iterator[Finding]:
    """The lines that stop the script where Adasum is asked for."""
    for node in names.of_kind(ast.Constant):
        if node.value == NO_ADASUM:
            advice = "remove the option, or keep Horovod for it"
            yield manual("HVD003", names, node, "the script stops where Adasum is selected", advice)


RULE = Rule(
    id="HVD003",
    title="DistributedOptimizer becomes DDP",
    what="Wraps each model that a DistributedOptimizer trains in DistributedDataParallel, where Horovod "
    "broadcasts its weights. compression becomes a hook.",
    why="DDP averages the gradients of a module in its backward pass, and broadcasts its first weights.",
    safety="Safe: broadcast_buffers=False keeps the statistics of batch normalization with each rank, as Horovod "
    "does. Refused for Adasum, sparse gradients and process sets. A parameter that gets no gradient stops "
    "DDP with an error in the next step, where Horovod gives it zeros. Of several backward passes for one step "
    "DDP sends each; their sum is the same.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model = DDP(model, broadcast_buffers=False)
            """,
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 2)
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), op=hvd.Adasum)
            """,
            reason="only Horovod has this reduction",
            reported=True,
        ),
    ),
)
