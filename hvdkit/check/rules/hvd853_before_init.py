"""HVD853: a rank is asked for before Horovod is started."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import COLLECTIVES, called, calls_in, short
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.init.early_calls import early_calls
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import starting_sites
from hvdkit.migrate.plan import Finding

QUESTIONS = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")


def check(facts: Facts) -> Iterator[Finding]:
    asked = [
        site
        for site in called(facts, *QUESTIONS, *COLLECTIVES, "DistributedOptimizer")
        if not any(isinstance(parent, (ast.If, ast.IfExp)) for parent in site.names.ancestors(site.node))
    ]
    # A program that asks whether Horovod is initialized may be started by what it imports.
    starting = [
        program
        for program in programs_of(facts)
        if starting_sites(facts, program) and not calls_in(facts, program, "is_initialized")
    ]
    early = {site.node: site for program in starting for site in early_calls(facts, program, asked)}
    for site in early.values():
        message = f"{short(site)}() runs before hvd.init(): Horovod has not been initialized"
        yield manual("HVD853", site.names, site.node, message, "call hvd.init() first")


RULE = Rule(
    id="HVD853",
    title="Horovod is used before hvd.init()",
    what='It raises "Horovod has not been initialized; use hvd.init()".',
    why="a process learns its rank when it joins the job.",
    safety="Nothing is edited: other code in between may have to run before hvd.init().",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            print("rank", hvd.rank())
            hvd.init()
            """,
            reason="nothing was started yet",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd

            def is_main():
                return hvd.rank() == 0

            hvd.init()
            print("rank", hvd.rank(), is_main())
            """,
            reason="the function runs later",
        ),
    ),
)
