"""HVD411: an object around the optimizer hands on what Horovod adds to the one inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import AverageAfter, Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.optimizer_wrappers import OptimizerWrapper, optimizer_wrappers
from hvdkit.migrate.facts.optimizers.was_averaged import was_averaged
from hvdkit.migrate.facts.optimizers.wrap_places import wrap_places
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit

# The optimizer of hvdkit.torch remembers that it has reduced: nobody has to tell its step() not to.
HANDED_ON = {"horovod": ("synchronize", "skip_synchronize"), "hvdkit": ("synchronize",)}
INNER = ("inner", "inner_optimizer", "optimizer_inside")


def check(facts: Facts) -> Iterator[Finding]:
    places = [place for place in wrap_places(facts) if migrates(facts, place.names)]
    averaged = {o.value for place in places if was_averaged(facts, place) for o in place.optimizers}
    for around in optimizer_wrappers(facts):
        if around.optimizers & averaged and not around.copies and not _hands_on(around):
            message = "the inner optimizer waits for the gradients: the object around it passes the calls on"
            yield required(facts, "HVD411", around.names, around.node, message, _edits, facts, around)


def _hands_on(around: OptimizerWrapper) -> bool:
    """Whether the statement below hands synchronize() on already."""
    below = edits.following(around.names, around.names.statement(around.node))
    target = below.targets[0] if isinstance(below, ast.Assign) else None
    return isinstance(target, ast.Attribute) and target.attr == "synchronize"


def _edits(facts: Facts, around: OptimizerWrapper) -> list[Edit]:
    names, source = around.names, around.names.source
    statement = names.statement(around.node)
    if not isinstance(around.inner, (ast.Name, ast.Attribute)):
        raise edits.CannotEdit("the optimizer inside has no name")
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if names.parents[around.node] is not statement or not isinstance(target, (ast.Name, ast.Attribute)):
        raise edits.CannotEdit("the object around the optimizer is not assigned to a variable")
    inner, outer = source.segment(around.inner), source.segment(target)
    above = []
    if inner == outer:
        inner = next((name for name in INNER if name not in names.uses), "optimizer_inside_")
        above = [edits.before(source, statement, [f"{inner} = {outer}"])]
    lines = [f"{outer}.{name} = {inner}.{name}" for name in HANDED_ON[facts.options.target]]
    return [*above, edits.after(source, statement, lines)]


RULE = Rule(
    id="HVD411",
    title="LARC and Lookahead go around Horovod's optimizer",
    what=(
        "Lets an apex LARC, a Lookahead (timm, torch_optimizer, pytorch_optimizer) or a class of the "
        "project's own around the optimizer answer synchronize() and skip_synchronize() with those of the "
        "DistributedOptimizer inside."
    ),
    why=(
        "The training loop holds only the outer object, and LARC scales the gradients in its step(): they "
        "must be averaged before, as under DDP. Wrapping the outer object is not possible: Horovod creates "
        "a new object of its class from parameter groups."
    ),
    safety=(
        "Safe: the outer object's step() runs on the same averaged gradients as under DDP, and calls the "
        "inner one's step() once. HVD404 waits for the gradients where LARC is used. With two ranks in "
        "float32 the weights are bit-identical."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(
        Change(
            """\
            import torch
            from apex.parallel.LARC import LARC
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = LARC(optimizer=optimizer, trust_coefficient=0.001, clip=False)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import torch
            from apex.parallel.LARC import LARC
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            inner = optimizer
            optimizer = LARC(optimizer=optimizer, trust_coefficient=0.001, clip=False)
            optimizer.synchronize = inner.synchronize
            optimizer.skip_synchronize = inner.skip_synchronize
            model(x).sum().backward()
            optimizer.step()
            """,
            note="Only this rule: HVD401 wraps the optimizer above, HVD404 waits for the gradients.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch
            from apex.parallel.LARC import LARC

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            optimizer = LARC(optimizer)
            model(x).sum().backward()
            """,
            reason="the program uses Horovod already",
        ),
    ),
)
