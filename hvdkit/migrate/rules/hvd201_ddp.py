"""HVD201: DDP(model) becomes the model, and its broadcast of rank 0's weights becomes Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.wraps import Wrap, find_wraps
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for wrap in find_wraps(facts):
        if wrap.name not in words.DDP:
            continue
        if wrap.inner is None or isinstance(wrap.inner, ast.Starred):
            advice = (
                "take the DDP call away and call hvd.broadcast_parameters(model.state_dict(), root_rank=0)"
            )
            message = "DDP gets its model in a way that cannot be followed"
            yield facts.manual("HVD201", wrap.names, wrap.node, message, advice)
            continue
        message = "DDP goes; rank 0's parameters and buffers are broadcast where DDP did it"
        yield facts.safe("HVD201", wrap.names, wrap.node, message, _edits, facts, wrap)


def _edits(facts: Facts, wrap: Wrap) -> list[Edit]:
    names, source = wrap.names, wrap.names.source
    inner = wrap.inner
    assert inner is not None
    statement = names.statement(wrap.node)
    assigned = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is wrap.node
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if assigned and len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute, ast.Subscript)):
        target = source.segment(targets[0])
        line = broadcast_line(facts, wrap, target)
        if target == source.segment(inner):
            edits.own_lines(source, statement)
            return [edits.replace(source, statement, line)]
        return [*edits.unwrap(source, wrap.node, inner), edits.after(source, statement, [line])]
    if isinstance(statement, (ast.Return, ast.Expr)) and isinstance(inner, (ast.Name, ast.Attribute)):
        line = broadcast_line(facts, wrap, source.segment(inner))
        return [edits.before(source, statement, [line]), *edits.unwrap(source, wrap.node, inner)]
    raise edits.CannotEdit("DDP stands inside a larger expression")


def broadcast_line(facts: Facts, wrap: Wrap, model: str) -> str:
    """The call that gives every rank the weights of rank 0."""
    hvd = facts.hvd(wrap.names)
    if facts.options.target == "hvdkit":
        return f"{hvd}.broadcast({model})"
    return f"{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)"


RULE = Rule(
    id="HVD201",
    title="DDP is removed",
    what="Takes DistributedDataParallel (torch's or apex's) away and broadcasts the model at the same place.",
    why=(
        "Horovod averages gradients in the optimizer. DDP needs a process group that no longer exists, and with "
        "both, gradients would be averaged twice. DDP's constructor also sends rank 0's parameters and buffers "
        "to all ranks; the broadcast keeps that, at the same point of the program."
    ),
    safety="Safe: same average, same start. With two ranks in float32 the weights are bit-identical.",
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            model = DDP(model, device_ids=[0])  # one device per process
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)  # one device per process
            """,
        ),
        Change(
            """\
            import torch

            class Trainer:
                def __init__(self, net):
                    self.model = torch.nn.parallel.DistributedDataParallel(net.cuda(), find_unused_parameters=True)
            """,
            """\
            import horovod.torch as hvd

            class Trainer:
                def __init__(self, net):
                    self.model = net.cuda()
                    hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel

            def wrap(net, gpu):
                return DistributedDataParallel(net, device_ids=[gpu])
            """,
            """\
            import hvdkit.torch as hvd

            def wrap(net, gpu):
                hvd.broadcast(net)
                return net
            """,
            target="hvdkit",
        ),
    ),
    keeps=(
        Keep(
            """\
            from mylib import DistributedDataParallel as DDP

            model = DDP(net)
            """,
            reason="another library's class of that name is not torch's",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            models = {"net": DDP(net)}
            """,
            reason="there is no statement of its own to put the broadcast beside",
            reported=True,
        ),
    ),
)
