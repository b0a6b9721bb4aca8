"""HVD417: the gradients of an optimizer that cannot be wrapped are averaged before each of its steps."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.trained_wraps import trained_wraps
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.before_steps import Average, before_steps
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import fresh
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit

GROUPED = frozenset(f"{module}.grouped_allreduce_" for module in words.HOROVOD)


def check(facts: Facts) -> Iterator[Finding]:
    after = after_backward(facts).wraps
    asked = [(p, wrap) for p, wrap, optimizers in trained_wraps(facts) if not optimizers]
    programs = {id(program): program for program, wrap in asked if wrap.node not in after}
    every = [average for program in programs.values() for average in before_steps(facts, program).averages]
    for average in (average for average in dict.fromkeys(every) if not _done(average)):
        message = f"the gradients of {average.model} are averaged here, as under DDP"
        yield required(facts, "HVD417", average.names, average.statement, message, _edit, facts, average)


def _done(average: Average) -> bool:
    """Whether gradients are averaged there already."""
    names = average.names
    below = [average.statement, edits.following(names, average.statement)]
    calls = (call for statement in below if statement is not None for call in names.calls_in(statement))
    return any(GROUPED & set(names.qualified(call.func)) for call in calls)


def _edit(facts: Facts, average: Average) -> Edit:
    names = average.names
    hvd, kept = horovod_name(facts, names), fresh(names, "gradients")
    each = f"p.grad for p in {average.model}.parameters() if p.grad is not None"
    lines = [f"{kept} = [{each}]", f"if {kept}:", f"\t{hvd}.grouped_allreduce_({kept}, op={hvd}.Average)"]
    return edits.before(names.source, average.statement, lines)


RULE = Rule(
    id="HVD417",
    title="gradients are averaged before the step",
    what=(
        "Averages the gradients of a model that DDP wrapped right before they are read, or before the step, "
        "where its optimizer is created in a way that cannot be followed, such as by a name in a "
        "configuration."
    ),
    why=(
        "An optimizer that is not seen cannot be wrapped, and the hooks of hvd.DistributedOptimizer skip "
        "parameters that are frozen when it is created, as those of a GAN's two networks often are."
    ),
    safety=(
        "Safe: only where the model of the step, DDP's call for it (or for its parts) and the last backward "
        "pass above are seen. Whichever of several backward passes DDP reduced in, the step got the average "
        "of what the ranks had accumulated. With two ranks in float32 the weights are bit-identical. "
        "Anything else is refused (HVD905)."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            ddp = DDP(net)
            optimizer = make_optimizer(params=net.parameters(), name="Adam")
            for batch in batches:
                optimizer.zero_grad()
                for x in batch.split(4):
                    ddp(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            ddp = DDP(net)
            optimizer = make_optimizer(params=net.parameters(), name="Adam")
            for batch in batches:
                optimizer.zero_grad()
                for x in batch.split(4):
                    ddp(x).sum().backward()
                gradients = [p.grad for p in net.parameters() if p.grad is not None]
                if gradients:
                    hvd.grouped_allreduce_(gradients, op=hvd.Average)
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
            """,
            note="Once for gradients that accumulate over several passes, and before they are clipped.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            ddp = DDP(net, process_group=half)
            optimizer = make_optimizer(params=net.parameters(), name="Adam")
            for batch in batches:
                ddp(batch).sum().backward()
                optimizer.step()
            """,
            reason="only some of the ranks average together",
        ),
    ),
)
