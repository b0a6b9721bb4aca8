"""HVD835: one rank loads a checkpoint, and the others never get it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import BROADCASTS, calls_in, mentioned, model_loads, programs, wraps
from hvdkit.check.order import maybe_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in programs(facts):
        if mentioned(program, "elastic") or not any(w.names in program.files for w in wraps(facts)):
            continue
        for names, call, _ in model_loads(facts):
            if (
                names in program.files
                and call not in seen
                and where_runs(facts, names, call) is not Where.ALL
            ):
                if _never_sent(facts, program, names, call):
                    seen.add(call)
                    message = (
                        "only one rank loads these weights, and no broadcast follows: the others continue "
                        "with their own"
                    )
                    advice = (
                        "call hvd.broadcast_parameters(model.state_dict(), root_rank=0) below, on every rank"
                    )
                    yield manual("HVD835", names, call, message, advice)


def _never_sent(facts: Facts, program: ProgramFacts, names: Names, load: ast.Call) -> bool:
    """Whether no broadcast can follow: the program has none, or all of them stand above in the same function."""
    sites = calls_in(facts, program, *BROADCASTS, "allreduce_", "allreduce")
    return all(
        site.names is names
        and names.function(site.node) is names.function(load)
        and maybe_before(names, site.node, load)
        and not any(isinstance(parent, (ast.For, ast.While)) for parent in names.ancestors(site.node))
        for site in sites
    )


RULE = Rule(
    id="HVD835",
    title="a checkpoint loaded on one rank and not broadcast",
    what="Rank 0 resumes from the checkpoint and the others start from their initial weights; gradients are averaged over both.",
    why="Horovod compares no weights: it averages gradients of whatever models there are.",
    safety="Nothing is edited: the broadcast has to come after the load, where every rank runs it.",
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
            optimizer = hvd.DistributedOptimizer(optimizer)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            if hvd.rank() == 0:
                model.load_state_dict(torch.load("checkpoint"))
            """,
            reason="the broadcast came before",
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
            if hvd.rank() == 0:
                model.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            reason="the broadcast follows",
        ),
    ),
)
