"""HVD801: the result of a collective that gives a new tensor is thrown away."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called, discarded, short, target
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import FUNCTIONS, Names

KEEPS_SHAPE = ("allreduce", "broadcast", "broadcast_object")
OTHERS = ("allgather", "allgather_object", "alltoall", "reducescatter")
IN_PLACE = ("hvdkit.torch.broadcast", "hvdkit.tensorflow.broadcast", "hvdkit.keras.broadcast")  # of a model


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *KEEPS_SHAPE, *OTHERS):
        if site.name in IN_PLACE:
            continue
        statement = discarded(site.names, site.node)
        given = site.node.args[0] if site.node.args else None
        if statement is None or given is None or not target(given) or not _read_later(site.names, given):
            continue
        text = site.names.source.segment(given)
        message = f"{short(site)}() returns a new value that is discarded: {text} is unchanged"
        if short(site) in OTHERS or not _can_assign(site.names, given):
            advice = f"use what {short(site)}() returns"
            yield manual("HVD801", site.names, site.node, message, advice)
        else:
            yield safe(facts, "HVD801", site.names, site.node, message, _assign, site.names, statement, text)


def _read_later(names: Names, given: ast.expr) -> bool:
    """Whether the value is read after the collective: a tensor made for a barrier is not."""
    if isinstance(given, ast.Name):
        owner = names.scope(given).owner(given.id)
        reads = [n for n in names.uses[given.id] if names.scope(n).owner(n.id) is owner]
    else:
        assert isinstance(given, ast.Attribute)
        reads = list(names.attributes[given.attr])  # type: ignore[arg-type]
    call = names.statement(given)
    loops = [p for p in names.ancestors(call) if isinstance(p, (ast.For, ast.While, *FUNCTIONS))]
    return any(
        isinstance(read.ctx, ast.Load)
        and names.statement(read) is not call
        and (read.lineno > call.lineno or any(loop in names.ancestors(read) for loop in loops if _loop(loop)))
        for read in reads
    )


def _loop(node: ast.AST) -> bool:
    return isinstance(node, (ast.For, ast.While))


def _can_assign(names: Names, given: ast.expr) -> bool:
    """Whether an assignment here means the same variable: not one of the scope around."""
    if not isinstance(given, ast.Name):
        return True
    return names.scope(given).owner(given.id) is names.scope(given)


def _assign(names: Names, statement: ast.Expr, text: str) -> Edit:
    start = names.source.start(statement)
    return Edit(start, start, f"{text} = ", Slot.OPENING)


RULE = Rule(
    id="HVD801",
    title="the result of a collective is discarded",
    what=(
        "hvd.allreduce(x), hvd.broadcast(x), hvd.broadcast_object(x) leave x unchanged and return the "
        "result. Called as a statement they cost a round trip and change nothing: each rank continues with "
        "its own value."
    ),
    why="torch.distributed works in place, Horovod only in the functions that end in an underscore.",
    safety=(
        "Safe: the result is assigned to the argument, which is what the line is meant to do. A call whose "
        "argument is never read again is a barrier, and is left alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            loss = torch.ones(1) * hvd.rank()
            hvd.allreduce(loss, name="loss")
            print(loss)
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            loss = torch.ones(1) * hvd.rank()
            loss = hvd.allreduce(loss, name="loss")
            print(loss)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            token = torch.zeros(1)
            hvd.allreduce(token, name="barrier")
            hvd.allreduce(torch.tensor(0), name="another")
            """,
            reason="the argument is never read: the ranks only wait for each other",
        ),
    ),
)
