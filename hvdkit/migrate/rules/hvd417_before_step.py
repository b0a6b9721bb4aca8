"""HVD417: the gradients of an optimizer that cannot be wrapped are averaged before each of its steps."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import fresh
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.models.coverage import trained_wraps
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.before_steps import Average, before_steps
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

GROUPED = frozenset(f"{module}.grouped_allreduce_" for module in words.HOROVOD)


def check(facts: Facts) -> Iterator[Finding]:
    after = after_backward(facts).wraps
    asked = [(p, wrap) for p, wrap, optimizers in trained_wraps(facts) if not optimizers]
    programs = {id(program): program for program, wrap in asked if wrap.node not in after}
    every = [average for program in programs.values() for average in before_steps(facts, program).averages]
    for average in (average for average in dict.fromkeys(every) if not _done(average)):
        message = f"the gradients of {average.model} are averaged here, as DDP averaged them"
        yield facts.required("HVD417", average.names, average.statement, message, _edit, facts, average)


def _done(average: Average) -> bool:
    """Whether gradients are averaged there already."""
    names = average.names
    below = [average.statement, edits.following(names, average.statement)]
    calls = (call for statement in below if statement is not None for call in names.calls_in(statement))
    return any(GROUPED & set(names.qualified(call.func)) for call in calls)


def _edit(facts: Facts, average: Average) -> Edit:
    names = average.names
    hvd, kept = facts.hvd(names), fresh(names, "gradients")
    each = f"p.grad for p in {average.model}.parameters() if p.grad is not None"
    lines = [f"{kept} = [{each}]", f"if {kept}:", f"\t{hvd}.grouped_allreduce_({kept}, op={hvd}.Average)"]
    return edits.before(names.source, average.statement, lines)


RULE = Rule(
    id="HVD417",
    title="gradients are averaged before the step",
    what=(
        "Averages the gradients of a model that DDP wrapped right before they are looked at, or before the step, "
        "where its optimizer is made in a way that cannot be followed, such as by a name in a configuration."
    ),
    why=(
        "An optimizer that is not seen cannot be wrapped, and the hooks of hvd.DistributedOptimizer pass "
        "parameters by that are frozen when it is made, as those of a GAN's two networks often are."
    ),
    safety=(
        "Safe: only where the model of the step, DDP's call for it (or for its parts) and the last backward pass "
        "above are seen. Whichever of several backward passes DDP reduced in, the step got the average of what the "
        "ranks had added up. With two ranks in float32 the weights are bit-identical. All else is refused (HVD905)."
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
            note="Once for what adds up in several passes, and before it is clipped.",
        ),
        Change(
            """\
            import torch
            from factory import batches, construct, options
            from torch.nn.parallel import DistributedDataParallel as DDP

            def train(options, batches):
                G, D = construct(**options.G), construct(**options.D)
                parts = {}
                for name, net in [("mapping", G.mapping), ("synthesis", G.synthesis), ("D", D)]:
                    parts[name] = DDP(net)
                loss = construct(**parts, **options.loss)
                phases = []
                for net in [G, D]:
                    opt = construct(net.parameters(), **options.optimizer)
                    phases += [dict_of(net=net, opt=opt)]
                for batch in batches:
                    for phase in phases:
                        phase.opt.zero_grad()
                        loss.accumulate(phase, batch)
                        phase.opt.step()

            train(options, batches)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from factory import batches, construct, options
            from torch.nn.parallel import DistributedDataParallel as DDP

            def train(options, batches):
                G, D = construct(**options.G), construct(**options.D)
                parts = {}
                for name, net in [("mapping", G.mapping), ("synthesis", G.synthesis), ("D", D)]:
                    parts[name] = DDP(net)
                loss = construct(**parts, **options.loss)
                phases = []
                for net in [G, D]:
                    opt = construct(net.parameters(), **options.optimizer)
                    phases += [dict_of(net=net, opt=opt)]
                for batch in batches:
                    for phase in phases:
                        phase.opt.zero_grad()
                        loss.accumulate(phase, batch)
                        gradients = [p.grad for p in phase.net.parameters() if p.grad is not None]
                        if gradients:
                            hvd.grouped_allreduce_(gradients, op=hvd.Average)
                        phase.opt.step()

            train(options, batches)
            """,
            files=(
                (
                    "losses.py",
                    "import torch\n\nclass Loss:\n    def accumulate(self, phase, batch):\n        self.D(batch).sum().backward()\n",
                ),
            ),
            note="The backward pass stands in a class that is only named in a configuration.",
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
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Embedding(2, 1, sparse=True)
            ddp = DDP(net)
            optimizer = make_optimizer(params=net.parameters(), name="SparseAdam")
            for batch in batches:
                ddp(batch).sum().backward()
                optimizer.step()
            """,
            reason="sparse gradients are no plain tensors, of which Horovod could average a list",
        ),
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            ddp = DDP(net, find_unused_parameters=True)
            optimizer = make_optimizer(params=net.parameters(), name="Adam")
            for batch in batches:
                for x in batch.split(4):
                    ddp(x).sum().backward()
                optimizer.step()
            """,
            reason="each rank may have gradients of other parameters, and would wait for those of the others",
        ),
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net, head = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
            ddp = DDP(net)
            optimizer = make_optimizer(params=head.parameters(), name="Adam")
            for batch in batches:
                for x in batch.split(4):
                    (ddp(x) + head(x)).sum().backward()
                optimizer.step()
            """,
            reason="DDP does not wrap what this optimizer trains",
        ),
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Linear(2, 1)
            ddp = DDP(net)
            optimizer = make_optimizer(params=net.parameters(), name="Adam")
            for batch in batches:
                ddp(batch).sum().backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                for x in batch.split(4):
                    ddp(x).sum().backward()
                optimizer.step()
            """,
            reason="what was averaged by then was clipped, and the rest added to it",
        ),
        Keep(
            """\
            import torch
            from factory import make_optimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            ddp = DDP(torch.nn.Linear(2, 1))
            optimizer = make_optimizer(ddp)
            for batch in batches:
                for x in batch.split(4):
                    ddp(x).sum().backward()
                optimizer.step()
            """,
            reason="which parameters the optimizer takes of the model is not seen: HVD416 averages all, in each pass",
        ),
    ),
)
