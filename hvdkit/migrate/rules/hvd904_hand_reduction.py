"""HVD904: gradients that the script reduces itself, in another way than DDP, would be reduced twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused, safe
from hvdkit.migrate.catalog.rule import AverageAfter, Keep, Rule
from hvdkit.migrate.decisions.collectives import written
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.averages.kept_averages import stays
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.launch.mpi import KINDS, MODULE, mpi, translated
from hvdkit.migrate.facts.models.gradient_expressions import NotAveraged
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.averaged_by_hand import averages_by_hand
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Finding

ADVICE = (
    "write its calls with torch.distributed or Horovod (bcast is hvd.broadcast_object, gather is "
    "hvd.allgather_object) and run hvdkit migrate again"
)
STAYS = "what is done to gradients here stays as it is, and no Horovod optimizer averages them as well"
WAIT = (
    "reduce gradients in calls that wait (or whose handle's wait() is in the same function), or wrap "
    "the model in DistributedDataParallel instead, and run hvdkit migrate again"
)
UNLIKE = "Horovod's optimizer, which is faster, was not proven to do the same"


def check(facts: Facts) -> Iterator[Finding]:
    literal = after_backward(facts).files
    decided = written(facts)
    for site, problem in _left(facts):
        reason = f"{problem} ({problem.names.place(problem.node)})"
        stays_so = site.names in literal or stays(facts, site)
        decision = decided.get(site.node)
        left = decision.left if decision is not None else "Horovod does not do that in one call"
        if stays_so and left:
            why = f"{site.name.rpartition('.')[2]} is left: {left}"
            message = f"what is done to gradients here would have to stay as it is, and {why}"
            yield refused("HVD904", site.names, site.node, message, WAIT)
            continue
        if stays_so:
            yield safe(facts, "HVD904", site.names, site.node, STAYS, tuple).knowing(f"{UNLIKE}: {reason}")
            continue
        function = site.names.function(site.node)
        where = getattr(function, "name", "") or "this loop"
        message = (
            f"gradients are averaged by hand in {where}, where hvd.DistributedOptimizer averages them too, "
            f"and it is not proven that both do the same: {reason}"
        )
        advice = (
            f"remove {where} and its calls (or wrap the model in DistributedDataParallel instead) "
            "and run hvdkit migrate again; where it leaves a sum, the average is smaller by the number of "
            "ranks"
        )
        yield refused("HVD904", site.names, site.node, message, advice)
    yield from _beside_mpi(facts)


def _beside_mpi(facts: Facts) -> Iterator[Finding]:
    """mpi4py's talk, where not all of it becomes Horovod's."""
    told: dict[ast.AST, tuple[Names, str]] = {
        node: (names, "") for names, node, _, _ in mentions(facts, (f"{MODULE}.",))
    }
    told.update({problem.node: (problem.names, problem.reason) for problem in mpi(facts).problems})
    for node, (names, reason) in told.items():
        kinds = kinds_of(facts, names) & KINDS
        if kinds and not translated(facts, names):
            beside = "torch.distributed" if "ddp" in kinds else "what Horovod would send"
            message = f"mpi4py communicates between the ranks next to {beside}{reason and f': {reason}'}"
            yield refused("HVD904", names, node, message, ADVICE)


def _left(facts: Facts) -> Iterator[tuple[Site, NotAveraged]]:
    """What cannot be proven, and what can but is not to be rewritten."""
    yield from averages_by_hand(facts).problems
    for rule, found in (
        ("HVD208", averages_by_hand(facts).hookings),
        ("HVD412", averages_by_hand(facts).averagings),
    ):
        for one in () if facts.options.allows(rule) else found:
            yield one.site, NotAveraged(one.site.names, one.site.node, f"{rule} is switched off")


RULE = Rule(
    id="HVD904",
    title="hand-written gradient reductions stay, or are refused",
    what=(
        "Where a program reduces gradients itself in a way that is not proven equal to DDP's (a sum "
        "that is not divided, some of the parameters, a group of ranks, compression, one reduction "
        "for several backward passes), keeps all of that, as Horovod collectives, wraps no optimizer, and "
        "reports it. Refuses the program where that is not possible: where it shares its optimizer with one "
        "that has no ranks, or HVD416 is switched off. Also refuses programs whose ranks communicate "
        "through mpi4py in a way that HVD512 does not rewrite. HVD208 and HVD412 migrate averages equal to "
        "DDP's to Horovod's optimizer."
    ),
    why=(
        "Horovod's optimizer starts to reduce each gradient during the backward pass. A hand-written "
        "reduction of the same tensor races with it, and the result may not be the average."
    ),
    safety="Nothing is edited by this rule: HVD5xx translates the collectives one by one.",
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist

            class Shards:
                def __init__(self, params):
                    self.params = list(params)

                def step(self):
                    for param in self.params:
                        part = torch.empty_like(param.grad[: len(param) // dist.get_world_size()])
                        sent = dist.reduce_scatter_tensor(part, param.grad, async_op=True).get_future()
                        sent.wait()
                        param.data[: len(part)] -= 0.1 * part

            dist.init_process_group("gloo")
            model = torch.nn.Linear(4, 4)
            optimizer = Shards(model.parameters())
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            """,
            reason="a collective that cannot be written with Horovod is given gradients: the program is not migrated in part",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            total = torch.norm(torch.stack([p.grad.norm() for p in model.parameters()]))
            dist.all_reduce(total)
            """,
            reason="the norm of the gradients is a statistic, not the gradients",
        ),
    ),
)
