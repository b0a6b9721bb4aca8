"""HVD406: zero_grad() as Horovod's optimizer takes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import AverageAfter, Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.open_windows import may_be_pending
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target != "horovod":
        return
    known = {optimizer.value for optimizer in averaging_optimizers(facts)}
    for names, call, receiver in facts.methods("zero_grad"):
        held = facts.flow.unwrap(facts.flow.values(names, receiver)) & known
        if not held or not migrates(facts, names):
            continue
        if call.args or call.keywords:
            message = (
                "zero_grad() of Horovod's optimizer takes no argument; torch 2 sets gradients to None anyway"
            )
            yield required(facts, "HVD406", names, call, message, _drop, names, call)
        for group in steps_of(facts).groups:
            if group.optimizers & held and may_be_pending(facts, names, call, group):
                message = "gradients accumulated without a step are reduced, then discarded"
                make = (_synchronize, names, call, receiver)
                yield required(facts, "HVD406", names, call, message, *make)


def _drop(names: Names, call: ast.Call) -> Edit:
    source = names.source
    return Edit(source.end(call.func), source.end(call), "()")


def _synchronize(names: Names, call: ast.Call, receiver: ast.expr) -> Edit:
    text = names.source.segment(receiver)
    return edits.before(names.source, names.statement(call), [f"{text}.synchronize()"])


RULE = Rule(
    id="HVD406",
    title="zero_grad without arguments",
    what=(
        "Drops the arguments of optimizer.zero_grad(), and where an epoch may end in the middle of a window "
        "of backward passes, writes optimizer.synchronize() before it."
    ),
    why=(
        "zero_grad(set_to_none=True) is a TypeError with Horovod's optimizer. It also refuses to discard "
        "gradients that were never reduced, which happens in a script that starts each epoch with "
        "zero_grad()."
    ),
    safety=(
        "Safe: set_to_none=True is the default since torch 2.0; Horovod gives a parameter without gradient "
        "one of zeros in any case. What synchronize() reduces is discarded by the next line, on every rank."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad(set_to_none=True)
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            dist.init_process_group("nccl")
            net = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for batches in windows:
                for number, x in enumerate(batches):
                    net.require_backward_grad_sync = number == 3
                    net(x).sum().backward()
                if fast:
                    optimizer.step()
                else:
                    optimizer.step()
                optimizer.zero_grad()
            """,
            reason="on either branch of the test, a step has closed the window",
        ),
    ),
)
