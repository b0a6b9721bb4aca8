"""HVD871: after hvd.join() the ranks that joined early lack the last updates."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import BROADCASTS, called, calls_in, discarded, programs, wraps
from hvdkit.check.order import block_of
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names
from hvdkit.source.index.statements import statements_below


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if not any(wrap.names in program.files for wrap in wraps(facts)):
            continue
        for site in called(facts, "join", modules=words.HOROVOD):
            if site.names in program.files and discarded(site.names, site.node) is not None:
                if _after_training(facts, site) and not _sent(facts, program, site):
                    message = "ranks that arrive here early lack the updates of the others' last batches"
                    advice = (
                        "last = hvd.join(), then hvd.broadcast_parameters(model.state_dict(), "
                        "root_rank=last) and hvd.broadcast_optimizer_state(optimizer, root_rank=last)"
                    )
                    yield manual("HVD871", site.names, site.node, message, advice)


def _after_training(facts: Facts, site: Site) -> bool:
    """Whether the loop that trains is right above, in the same block, or in a function that is called there."""
    block = block_of(site.names, site.node)
    above = block[: block.index(site.names.statement(site.node))]
    trains = [statement for statement in above if step_calls(facts).runs_backward(statement)]
    return any(isinstance(s, LOOPS) or _calls_loop(facts, site.names, s) for s in trains)


def _calls_loop(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    called = [own for call in names.calls_in(statement) for own in facts.flow.functions(names, call)]
    return any(
        isinstance(part, LOOPS) and step_calls(facts).runs_backward(part)
        for where, function in called
        for part in where.walk(function)
    )


def _sent(facts: Facts, program: ProgramFacts, site: Site) -> bool:
    """Whether a broadcast may follow: below the join, below a call of its function, or in a loop around one."""
    sends = {other.node for other in calls_in(facts, program, *BROADCASTS)}
    seen: set[ast.AST] = set()
    waiting: list[tuple[Names, ast.AST]] = [(site.names, site.node)]
    while waiting:
        names, node = waiting.pop()
        if any(_reaches(facts, names, after, sends) for after in _after(names, node)):
            return True
        function = names.function(node)
        if function is not None and function not in seen:
            seen.add(function)
            callers = facts.flow.call_sites(names, function)
            if not callers and sends:
                return True  # what calls it is not seen, nor what comes after that
            waiting += callers
    return False


def _after(names: Names, node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of its function that may run after a node: below it, and all of a loop around it."""
    child: ast.AST = names.statement(node)
    for parent in (child, *names.ancestors(child)):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, LOOPS):
            yield parent
        elif isinstance(parent, ast.stmt):
            yield from statements_below(names, parent)


def _reaches(facts: Facts, names: Names, statement: ast.stmt, sends: set[ast.Call]) -> bool:
    """Whether running a statement may come to one of some calls."""
    seen: set[ast.AST] = set()
    waiting: list[tuple[Names, ast.AST]] = [(names, statement)]
    while waiting:
        where, node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        calls = where.calls_in(node)
        if not sends.isdisjoint(calls):
            return True
        waiting += (own for call in calls for own in facts.flow.functions(where, call))
    return False


RULE = Rule(
    id="HVD871",
    title="hvd.join() without a broadcast after it",
    what="The ranks continue, and save, with different weights; the difference grows with every epoch of uneven length.",
    why="a rank that has joined contributes zeros to the others' reductions, and applies none of them itself.",
    safety="Nothing is edited: the rank that join() returns, the last one, has to send its weights and its state.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            hvd.join()
            """,
            reason="the loop may end earlier on one rank than on another",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            last = hvd.join()
            hvd.broadcast_parameters(model.state_dict(), root_rank=last)
            """,
            reason="the last rank's weights are sent to all",
        ),
    ),
)
