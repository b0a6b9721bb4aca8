"""HVD821: several optimizers without named_parameters reduce under the same names."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import Wrapped, argument, programs, wraps
from hvdkit.check.order import block_of
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import unpacks
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    reported = set()
    for program in programs(facts):
        unnamed = [w for w in wraps(facts) if w.names in program.files and _is_unnamed(w)]
        for wrap in unnamed:
            others = [w for w in unnamed if w is not wrap and _together(wrap, w)]
            if others and wrap.node not in reported:
                reported.add(wrap.node)
                message = (
                    "without named_parameters the gradients of two optimizers travel under the same names"
                )
                advice = 'give each its own: named_parameters=model.named_parameters(prefix="generator")'
                yield manual("HVD821", wrap.names, wrap.node, message, advice)


def _is_unnamed(wrap: Wrapped) -> bool:
    return argument(wrap.node, 1, "named_parameters") is None and not unpacks(wrap.node)


def _together(one: Wrapped, other: Wrapped) -> bool:
    """Whether two optimizers certainly exist side by side: made in one block of one function."""
    names: Names = one.names
    if other.names is not names or names.function(one.node) is not names.function(other.node):
        return False
    same_block = block_of(names, one.node) is block_of(names, other.node)
    return same_block and not one.optimizers & other.optimizers


RULE = Rule(
    id="HVD821",
    title="two optimizers without named_parameters",
    what=(
        'If both reduce at once, the job ends with "Requested to allreduce ... a tensor with the same name as '
        'another tensor that is currently being processed".'
    ),
    why="an optimizer without names calls its first gradient allreduce.noname.0.0, and so does the next one.",
    safety="Nothing is edited: the names, and a prefix that distinguishes the models, are for the author to choose.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            g = hvd.DistributedOptimizer(torch.optim.Adam(generator.parameters()))
            d = hvd.DistributedOptimizer(torch.optim.Adam(critic.parameters()))
            """,
            reason="both are nameless",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            g = hvd.DistributedOptimizer(
                torch.optim.Adam(generator.parameters()), named_parameters=generator.named_parameters(prefix="g")
            )
            d = hvd.DistributedOptimizer(torch.optim.Adam(critic.parameters()))
            """,
            reason="only one is nameless, so that no name is used twice",
        ),
    ),
)
