"""HVD838: rank 0 begins at the checkpoint's epoch, the others at the first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import COLLECTIVES, horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Binding, Names

EVERY = frozenset(f"{module}.{name}" for module in words.EVERY_HOROVOD for name in COLLECTIVES)


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    loops = {loop for path in training_loops(facts).paths for loop in path.loops if loop.names in files}
    for loop in sorted(loops, key=lambda loop: (str(loop.names.source.path), loop.node.lineno)):
        if isinstance(loop.node, ast.While):
            continue
        for given in _bounds(loop.node.iter):
            if _read_on_rank_0(facts, loop.names, given):
                text = loop.names.source.segment(given)
                message = f"only rank 0 has read {text}: the ranks run different numbers of epochs, and block"
                yield safe(
                    facts, "HVD838", loop.names, given, message, _share, facts, loop.names, loop.node, given
                )


def _bounds(iterated: ast.expr) -> list[ast.expr]:
    """The variables and attributes that a range() goes from and to."""
    if isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "range":
        return [part for part in iterated.args if isinstance(part, (ast.Name, ast.Attribute))]
    return []


def _read_on_rank_0(facts: Facts, names: Names, given: ast.expr) -> bool:
    bindings = _stores(names, given)
    if any(_collective(facts, names, binding) for binding in bindings):
        return False
    where = [where_runs(facts, names, binding.node) for binding in bindings if binding.kind == "assign"]
    return Where.RANK_0 in where and len(where) == len(bindings)


def _stores(names: Names, given: ast.expr) -> list[Binding]:
    """The assignments of a variable of this function, or of the same attribute of the same variable."""
    if isinstance(given, ast.Name):
        local = names.scope(given).owner(given.id) is names.scope(given)
        return names.bindings(given.id, given) if local else []
    assert isinstance(given, ast.Attribute)
    same = ast.dump(given.value)
    return [binding for target, binding in names.stores.get(given.attr, ()) if ast.dump(target) == same]


def _collective(facts: Facts, names: Names, binding: Binding) -> bool:
    """Whether a binding's value comes from the other ranks."""
    return binding.value is not None and any(
        isinstance(part, ast.Call) and bool(EVERY & facts.flow.qualified(names, part.func))
        for part in ast.walk(binding.value)
    )


def _share(facts: Facts, names: Names, loop: ast.For, given: ast.expr) -> Edit:
    text = names.source.segment(given)
    line = f"{text} = {horovod_name(facts, names)}.broadcast_object({text}, root_rank=0)"
    return edits.before(names.source, loop, [line])


RULE = Rule(
    id="HVD838",
    title="only rank 0 knows the epoch to resume at",
    what=(
        "Rank 0 runs only the last epochs and exits; the others wait for it in the first collective of the "
        "next epoch, or train on different epochs the whole time."
    ),
    why="what rank 0 reads from the checkpoint stays on rank 0.",
    safety="Safe: the number is sent to all ranks right before the loop.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            start = 0
            if hvd.rank() == 0:
                start = torch.load("checkpoint")["epoch"]
            for epoch in range(start, 10):
                model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            start = 0
            if hvd.rank() == 0:
                start = torch.load("checkpoint")["epoch"]
            start = hvd.broadcast_object(start, root_rank=0)
            for epoch in range(start, 10):
                model(x).sum().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            start = 0
            if hvd.rank() == 0:
                start = torch.load("checkpoint")["epoch"]
            start = int(hvd.broadcast(torch.tensor(start), root_rank=0, name="start"))
            for epoch in range(start, 10):
                model(x).sum().backward()
            """,
            reason="it is sent",
        ),
    ),
)
