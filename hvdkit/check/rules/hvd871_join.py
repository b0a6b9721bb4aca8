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
    """Whether the loop that trains stands right above, in the same block."""
    block = block_of(site.names, site.node)
    above = block[: block.index(site.names.statement(site.node))]
    return any(isinstance(s, (ast.For, ast.While)) and step_calls(facts).runs_backward(s) for s in above)


def _sent(facts: Facts, program: ProgramFacts, site: Site) -> bool:
    """Whether a broadcast follows, in this file, or may elsewhere."""
    return any(
        other.names is not site.names
        or other.node.lineno > site.node.lineno
        or site.names.function(other.node) is not site.names.function(site.node)
        for other in calls_in(facts, program, *BROADCASTS)
    )


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
