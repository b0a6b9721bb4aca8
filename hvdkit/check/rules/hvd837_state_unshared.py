"""HVD837: one rank loads the optimizer's state, and the others never get it."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, mentioned, optimizer_loads, programs, wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.plan import Finding

SENDS = ("broadcast_optimizer_state", "broadcast_object", "broadcast_object_fn", "broadcast_", "broadcast")


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if calls_in(facts, program, *SENDS) or mentioned(program, "elastic"):
            continue
        wrapped = frozenset().union(*(w.optimizers for w in wraps(facts) if w.names in program.files))
        for names, call, values in optimizer_loads(facts):
            if names in program.files and facts.flow.unwrap(values) & wrapped:
                if where_runs(facts, names, call) is not Where.ALL:
                    message = "only one rank loads the optimizer's state: the same gradients move its weights elsewhere"
                    advice = (
                        "below, on every rank: hvd.broadcast_optimizer_state(optimizer, root_rank=0), then "
                        "hvd.broadcast_parameters(model.state_dict(), root_rank=0)"
                    )
                    yield manual("HVD837", names, call, message, advice)


RULE = Rule(
    id="HVD837",
    title="optimizer state loaded on one rank and not broadcast",
    what="The first step after a resume moves rank 0 by its momenta and the others without: their weights part.",
    why="Horovod averages gradients; what an optimizer makes of them depends on its state.",
    safety="Nothing is edited: the broadcast has to stand where every rank comes by after the load.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            if hvd.rank() == 0:
                optimizer.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
            reason="the parameters are sent, the momenta are not",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = torch.optim.Adam(model.parameters())
            optimizer = hvd.DistributedOptimizer(optimizer)
            if hvd.rank() == 0:
                optimizer.load_state_dict(torch.load("checkpoint"))
            hvd.broadcast_optimizer_state(optimizer, root_rank=0)
            """,
            reason="the state is sent",
        ),
    ),
)
