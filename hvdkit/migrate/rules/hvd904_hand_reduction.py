"""HVD904: gradients that the script reduces itself are reduced by it alone, since twice would be wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import AverageAfter, Keep, Rule
from hvdkit.migrate.decisions.collectives import written
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.code.loops import backward_calls
from hvdkit.migrate.facts.code.unused import unused
from hvdkit.migrate.facts.collectives.collectives import collectives, reduction
from hvdkit.migrate.facts.models.gradient_collectives import hand_reductions
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.programs.programs import ProgramFacts, kinds_of, programs_of, programs_with
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

ALONE = "mpi4py knows the ranks only where MPI started them: under horovodrun with Gloo, each process is rank 0 of 1 here"
UNDER_MPI = (
    "start the job with horovodrun --mpi, or write Horovod's calls: hvd.rank(), hvd.size(), hvd.barrier(), "
    "hvd.broadcast_object(value, root_rank=0), hvd.allgather_object(value)"
)
OWN_RANKS = "mpi4py communicates between the ranks next to what Horovod would send"
ADVICE = (
    "write its calls with torch.distributed or Horovod (bcast is hvd.broadcast_object, gather is "
    "hvd.allgather_object) and run hvdkit migrate again"
)
STAYS = "what is done to gradients here stays as it is, and no Horovod optimizer averages them as well"
FASTER = (
    "every rank waits here for the gradients, while hvd.DistributedOptimizer would send the first ones during "
    "backward(): for that, wrap the model in DistributedDataParallel instead, and run hvdkit migrate again"
)
WAIT = (
    "reduce gradients in calls that wait (or whose handle's wait() is in the same function), or wrap "
    "the model in DistributedDataParallel instead, and run hvdkit migrate again"
)


@once
def hand_averages(facts: Facts) -> list[Site]:
    """The collectives that are given gradients, in the files of programs that train."""
    training = {names for names, _ in backward_calls(facts)}
    seen = {names for program in programs_of(facts) if training & program.files for names in program.files}
    return [
        site
        for site in hand_reductions(facts)
        if not (site.names in seen and unused(facts, site.names, site.node))
    ]


def averages_nothing_else(facts: Facts, site: Site) -> bool:
    """Whether no optimizer of the programs that run a collective would average the same gradients again.

    An optimizer that the program makes by a name, or that a library makes, is not wrapped.
    """
    mine = [
        program
        for program in programs_with(facts, site.names)
        if runs_in(facts, program, site.names, site.node)
    ]
    known = [call for call in collectives(facts, "all_reduce") if call.node is site.node]
    written = any(not call.problem and reduction(facts, site.names, call.given.get("op")) for call in known)
    rule = facts.options.allows("HVD501")
    return rule and written and bool(mine) and not any(_averages(facts, program) for program in mine)


def _averages(facts: Facts, program: ProgramFacts) -> bool:
    """Whether the optimizers of a program are wrapped, or its models are."""
    optimizers = any(optimizer.names in program.files for optimizer in every_optimizer(facts))
    wraps = any(wrap.names in program.files and wrap.name in words.WRAPS for wrap in find_wraps(facts))
    return optimizers or wraps or program.kind != "ddp"


def check(facts: Facts) -> Iterator[Finding]:
    literal = after_backward(facts).files
    decided = written(facts)
    for site in hand_averages(facts):
        decision = decided.get(site.node)
        left = decision.left if decision is not None else "Horovod does not do that in one call"
        stays = site.names in literal or averages_nothing_else(facts, site)
        if stays and left:
            why = f"{site.name.rpartition('.')[2]} is left: {left}"
            message = f"what is done to gradients here would have to stay as it is, and {why}"
            yield refused("HVD904", site.names, site.node, message, WAIT)
        elif stays:
            yield safe(facts, "HVD904", site.names, site.node, STAYS, tuple).knowing(FASTER)
        else:
            where = getattr(site.names.function(site.node), "name", "") or "this loop"
            message = (
                f"gradients are averaged by hand in {where}, where hvd.DistributedOptimizer averages them too"
            )
            advice = (
                f"remove {where} and its calls (or wrap the model in DistributedDataParallel instead) "
                "and run hvdkit migrate again; where it leaves a sum, the average is smaller by the number of "
                "ranks"
            )
            yield refused("HVD904", site.names, site.node, message, advice)
    yield from _beside_mpi(facts)


def _beside_mpi(facts: Facts) -> Iterator[Finding]:
    """The first use of mpi4py in each file of a program that Horovod would start."""
    first: dict[Names, ast.expr] = {}
    for names, node, _, _ in mentions(facts, ("mpi4py.MPI.",)):
        first.setdefault(names, node)
    for names, node in first.items():
        kinds = kinds_of(facts, names)
        if "single" in kinds:
            yield refused("HVD904", names, node, OWN_RANKS, ADVICE)
        elif "ddp" in kinds:
            yield manual("HVD904", names, node, ALONE, UNDER_MPI)


RULE = Rule(
    id="HVD904",
    title="hand-written gradient reductions stay, or are refused",
    what=(
        "Where a program reduces gradients itself, as PyTorch's tutorial does with average_gradients(model), "
        "keeps all of that, as Horovod collectives, wraps no optimizer, and reports it. Refuses the program where that is not possible: where it shares its optimizer with one "
        "that has no ranks, or HVD416 is switched off. Also refuses programs without "
        "torch.distributed whose ranks communicate through mpi4py, and marks mpi4py in the others."
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
