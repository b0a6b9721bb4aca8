"""HVD817: the ranks run over shares of unequal length, a step for each element or batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, mentioned, programs, wraps
from hvdkit.check.lengths import share_of
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.plan import Finding


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        if mentioned(program, "elastic") or calls_in(facts, program, "join"):
            continue
        if not any(wrap.names in program.files for wrap in wraps(facts)):
            continue
        for loop in [loop for path in training_loops(facts).paths for loop in path.loops]:
            if loop.names not in program.files or loop.node in seen or isinstance(loop.node, ast.While):
                continue
            seen.add(loop.node)
            share = share_of(facts, loop.names, loop.node.iter) if not _cut_short(loop) else None
            if share is not None and share.uneven:
                whole = "an unknown number" if share.count is None else str(share.count)
                message = (
                    f"a rank's share of {whole} may be longer than another's: it makes one more step, in "
                    "which it waits for the others"
                )
                advice = (
                    "give all ranks the same number: leave the remainder out, things[: len(things) // "
                    "hvd.size() * hvd.size()], or call hvd.join() after the loop and broadcast from the "
                    "rank that it returns"
                )
                yield manual("HVD817", loop.names, loop.node.iter, message, advice)


def _cut_short(loop: Loop) -> bool:
    """Whether something ends the loop before its end: what that is may be as long on every rank."""
    return any(isinstance(part, ast.Break) for part in loop.names.walk(loop.node))


RULE = Rule(
    id="HVD817",
    title="shares of unequal length",
    what=(
        "Of seven files rank 0 gets four and rank 1 three. In the fourth step rank 0 waits for gradients "
        "that no rank sends: the job hangs, or fails when rank 1 exits; with more epochs the ranks average "
        "gradients of different epochs."
    ),
    why="each step is a collective of all ranks, and a DistributedSampler makes shares equally long.",
    safety=(
        "Nothing is edited: the remainder can be left out, repeated, or joined. Reported where the whole "
        "certainly does not divide by two, or has unknown length and is taken one by one; not reported "
        "where its length is made to fit."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for file in files[hvd.rank() :: hvd.size()]:
                model(torch.load(file)).sum().backward()
                optimizer.step()
            """,
            reason="the number of files is unknown",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            files = files[: len(files) // hvd.size() * hvd.size()]
            for file in files[hvd.rank() :: hvd.size()]:
                model(torch.load(file)).sum().backward()
                optimizer.step()
            """,
            reason="the remainder is left out",
        ),
    ),
)
