"""HVD820: Horovod is started, and no gradient is ever averaged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import MAX_CALLERS, calls_in, horovod_files, programs, short, wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import FUNCTIONS, Names

REDUCES = ("allreduce", "allreduce_", "allreduce_async_", "allreduce_async", "grouped_allreduce")
REDUCES_MORE = ("grouped_allreduce_", "grouped_allreduce_async_", "sparse_allreduce_async", "reducescatter")


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    wrapped = frozenset().union(*(wrap.optimizers for wrap in wraps(facts)))
    for program in programs(facts):
        if calls_in(facts, program, "DistributedOptimizer") or _by_other_means(facts, program):
            continue
        for step in step_calls(facts).steps:
            if step.names in program.files & files and not step.optimizers & wrapped:
                message = "no rank gets the others' gradients: this trains hvd.size() separate models"
                advice = (
                    "wrap it: hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())"
                )
                yield manual("HVD820", step.names, step.call, message, advice)


def _by_other_means(facts: Facts, program: ProgramFacts) -> bool:
    """Whether gradients may be reduced by hand or by another library."""
    if any(site.names in program.files for site in facts.calls("torch.distributed.", "byteps.", "mpi4py.")):
        return True
    sites = calls_in(facts, program, *REDUCES, *REDUCES_MORE)
    functions = [(site.names, site.names.function(site.node) or site.names.source.tree) for site in sites]
    reads = any(
        _reads(function, "grad", "parameters", "named_parameters")
        for _, function in functions
        if not isinstance(function, ast.Module)
    )
    top = any(isinstance(function, ast.Module) for _, function in functions)
    return (
        reads
        or top
        or any(short(site).startswith("grouped") for site in sites)
        or any(_given_gradients(facts, names, function) for names, function in functions)
    )


def _reads(node: ast.AST, *attributes: str) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in attributes for part in ast.walk(node))


def _given_gradients(facts: Facts, names: Names, function: ast.AST, depth: int = 0) -> bool:
    """Whether a caller of a function that reduces what it is given reads gradients: `reduce([p.grad for ...])`."""
    if not isinstance(function, FUNCTIONS) or depth > MAX_CALLERS:
        return False
    callers = [
        (where, where.function(call) or where.source.tree)
        for where, call in facts.flow.call_sites(names, function)
    ]
    return any(
        _reads(caller, "grad") or _given_gradients(facts, where, caller, depth + 1)
        for where, caller in callers
    )


RULE = Rule(
    id="HVD820",
    title="no gradient is averaged",
    what=(
        "Every rank trains its own model on its own share of the data, and rank 0's is saved. The job looks "
        "fine: it is fast, the loss falls, but the result is that of training on a fraction of the data."
    ),
    why="hvd.init() only connects the ranks; gradients are averaged by hvd.DistributedOptimizer.",
    safety=(
        "Nothing is edited: where to wrap depends on where a checkpoint is loaded and the learning rate set. "
        "Reported only where the program wraps no optimizer at all and reduces no gradients by hand."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the optimizer that steps is torch's own",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            optimizer = hvd.DistributedOptimizer(optimizer)
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="it is wrapped",
        ),
    ),
)
