"""HVD406: zero_grad() as Horovod's optimizer takes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.steps import Group
from hvdkit.migrate.facts.waits import reduced_above
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    if facts.options.target != "horovod":
        return
    known = {optimizer.value for optimizer in facts.optimizers}
    for names, call, receiver in facts.methods("zero_grad"):
        held = facts.flow.unwrap(facts.flow.values(names, receiver)) & known
        if not held or not facts.kinds(names) & {"ddp", "single"}:
            continue
        if call.args or call.keywords:
            message = (
                "zero_grad() of Horovod's optimizer takes no argument; torch 2 sets gradients to None anyway"
            )
            yield facts.required("HVD406", names, call, message, _drop, names, call)
        for group in facts.steps.groups:
            if group.optimizers & held and _may_be_pending(facts, names, call, group):
                message = "gradients of a window that no step has closed are reduced, then thrown away"
                make = (_synchronize, names, call, receiver)
                yield facts.required("HVD406", names, call, message, *make)


def _drop(names: Names, call: ast.Call) -> Edit:
    source = names.source
    return Edit(source.end(call.func), source.end(call), "()")


def _may_be_pending(facts: Facts, names: Names, call: ast.Call, group: Group) -> bool:
    """Whether backward passes without reduction may come before a zero_grad(), no step in between."""
    together = any(
        names in program.files and step.names in program.files
        for program in facts.programs
        for step in group.steps
    )
    if not together or not group.postponed or reduced_above(facts, names, names.statement(call), group):
        return False
    block = edits.block(names, names.statement(call))
    for step in group.steps:
        statement = step.names.statement(step.call)
        around = {statement, *step.names.ancestors(statement)}
        if any(part in around for part in block) and not _is_tested(step.names, statement, block):
            return False
    return True


def _is_tested(names: Names, statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether a test decides, inside one of a block's statements, if a step is taken."""
    for parent in (statement, *names.ancestors(statement)):
        if parent in block:
            return isinstance(parent, ast.If)
        if isinstance(parent, ast.If):
            return True
    return False


def _synchronize(names: Names, call: ast.Call, receiver: ast.expr) -> Edit:
    text = names.source.segment(receiver)
    return edits.before(names.source, names.statement(call), [f"{text}.synchronize()"])


RULE = Rule(
    id="HVD406",
    title="zero_grad without arguments",
    what=(
        "Drops the arguments of optimizer.zero_grad(), and where an epoch may end in the middle of a window of "
        "backward passes, writes optimizer.synchronize() before it."
    ),
    why=(
        "zero_grad(set_to_none=True) is a TypeError with Horovod's optimizer. It also refuses to throw gradients "
        "away that were never reduced, which is what a script does that starts each epoch with zero_grad()."
    ),
    safety=(
        "Safe: set_to_none=True is the default since torch 2.0; Horovod gives a parameter without gradient one "
        "of zeros in any case. What synchronize() reduces is thrown away by the next line, on every rank."
    ),
    check=check,
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
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(9):
                optimizer.zero_grad()
                for i, x in enumerate(batches):
                    model.require_backward_grad_sync = i % 4 == 3
                    model(x).sum().backward()
                    if i % 4 == 3:
                        optimizer.step()
                        optimizer.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(9):
                optimizer.synchronize()
                optimizer.zero_grad()
                for i, x in enumerate(batches):
                    model.require_backward_grad_sync = i % 4 == 3
                    model(x).sum().backward()
                    if i % 4 == 3:
                        optimizer.step()
                        optimizer.zero_grad()
            """,
            note="Only this rule: HVD405 takes require_backward_grad_sync.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                model.zero_grad(set_to_none=True)
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a model's zero_grad() is torch's own",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while True:
                optimizer.zero_grad()
                for i in range(4):
                    model.require_backward_grad_sync = i == 3
                    model(batch()).sum().backward()
                optimizer.step()
            """,
            reason="every window is closed by a step before the next zero_grad()",
        ),
    ),
)
