"""HVD205: DDP evaluates with rank 0's BatchNorm statistics on all ranks; Horovod must be told to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.buffers import (
    changed_in_training,
    evaluations,
    kept_apart,
    over_uneven_share,
)
from hvdkit.migrate.facts.launch.which_processes import Where, all_come_together, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import started
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, receiver in evaluations(facts):
        if where_runs(facts, names, call, training=True) is not Where.ALL or _done(names, call):
            continue
        uneven = over_uneven_share(facts, names, call)
        if uneven or not all_come_together(facts, names, call):
            message = (
                "all ranks evaluate here, and a single rank elsewhere: there is no place to send buffers"
            )
            if uneven:
                message = (
                    "the ranks evaluate shares of different lengths here: there is no place to send buffers"
                )
            advice = (
                f"call {horovod_name(facts, names)}.broadcast_parameters(dict(model.named_buffers()), "
                "root_rank=0) where all ranks run, before they evaluate a model with BatchNorm"
            )
            yield manual("HVD205", names, call, message, advice)
        else:
            message = "rank 0's BatchNorm statistics are broadcast before evaluation, as DDP does"
            yield safe(facts, "HVD205", names, call, message, _edit, facts, names, call, receiver)
    for names, call, buffer in changed_in_training(facts):
        message = f"training changes the buffer {buffer}: DDP sent rank 0's before each forward pass"
        advice = (
            "call hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0) before each forward "
            "pass, unless all ranks compute the same value"
        )
        yield manual("HVD205", names, call, message, advice)
    for names, call, buffers in kept_apart(facts):
        message = f"training fills {' and '.join(buffers)} with samples: each rank would fill its own copy from its share"
        advice = (
            "where it holds sums or means, hvd.allreduce() what is added to them; where it holds samples, fill it with all "
            "ranks' values and indices from hvd.allgather(); and broadcast it with hvd.broadcast_parameters() once after it "
            "is created"
        )
        yield manual("HVD205", names, call, message, advice)


def _edit(facts: Facts, names: Names, call: ast.Call, receiver: ast.expr) -> Edit:
    statement = names.statement(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        model = names.source.segment(receiver)
    elif isinstance(statement, ast.Assign) and statement.value is call:
        model = names.source.segment(statement.targets[0])
    else:
        raise edits.CannotEdit("eval() is part of a larger expression")
    if any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(model))):
        raise edits.CannotEdit("the model is the result of a call")
    hvd = horovod_name(facts, names)
    lines = [f"{hvd}.broadcast_parameters(dict({model}.named_buffers()), root_rank=0)"]
    if False in started(facts, names, call):  # another program that runs this never calls hvd.init()
        lines = [f"if {hvd}.is_initialized():", names.source.unit + lines[0]]
    return edits.after(names.source, statement, lines)


def _done(names: Names, call: ast.Call) -> bool:
    """Whether the statement below sends the buffers already."""
    below = edits.following(names, names.statement(call))
    return below is not None and ".named_buffers()" in names.source.segment(below)


RULE = Rule(
    id="HVD205",
    title="buffers that DDP kept equal",
    what=(
        "Broadcasts the buffers of a wrapped model after its eval(), where all ranks evaluate. Buffers that "
        "the model's own code changes while it trains are reported, and so are those that a single-process "
        "program fills with its input: memory banks, codebooks."
    ),
    why=(
        "DDP sends rank 0's buffers before each forward pass. In training, BatchNorm does not read its "
        "running statistics, and rank 0's are the same with Horovod; in evaluation the other ranks would "
        "use their own, and a metric averaged over the ranks would be different."
    ),
    safety=(
        "Safe: the call is placed where all ranks run. A model for which DDP had broadcast_buffers=False, "
        "one that was reached through .module, and code that one rank runs are left alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                return net(x)

            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            validate(model)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torchvision.models import resnet18
            from torch.nn.parallel import DistributedDataParallel as DDP

            def validate(net):
                net.eval()
                hvd.broadcast_parameters(dict(net.named_buffers()), root_rank=0)
                return net(x)

            model = DDP(resnet18())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            validate(model)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Norm(torch.nn.modules.batchnorm._BatchNorm):
                def __init__(self, size):
                    super().__init__(size)
                    self.register_buffer("seen", torch.zeros(size))

                def forward(self, x):
                    self.seen.add_(x.sum(0).detach())
                    return super().forward(x)

            model = Norm(8)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in torch.utils.data.DataLoader(data):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="each rank has its own statistics of a normalization layer under DDP, too",
        ),
    ),
)
