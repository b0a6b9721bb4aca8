"""HVD405: no_sync() and require_backward_grad_sync become the optimizer's number of backward passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import AverageAfter, Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.checkpoints.unwrapping import wrapped
from hvdkit.migrate.facts.models.syncing import (
    NO_SYNC,
    SWITCH,
    asks_for_it,
    decides_here,
    for_ddp_only,
    handed_on,
    in_choice,
)
from hvdkit.migrate.facts.optimizers.after_backward import averaged_literally
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_with
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.pass_counts import by_context, by_switch, several
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

WHY = "this backward pass accumulates gradients on each rank; a later one reduces them, as under no_sync()"


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for node in names.attributes.get(NO_SYNC, ()):
            mentioned = isinstance(node.ctx, ast.Load) and facts.of_object(names, node)
            if mentioned and not handed_on(names, node) and not _never_runs(facts, names, node):
                yield required(facts, "HVD405", names, node, WHY, by_context, facts, names, node)
        for call in names.calls.get("hasattr", ()):
            if not asks_for_it(call) or in_choice(names, call):
                continue
            if wrapped(facts, names, call.args[0]) or decides_here(names, call):
                message = "a test for no_sync() is a test for several processes"
                text = several(facts, names)
                yield required(facts, "HVD405", names, call, message, edits.replace, names.source, call, text)
        for _, binding in names.stores.get(SWITCH, ()):
            statement = names.statement(binding.node)
            if isinstance(statement, ast.Assign) and isinstance(binding.node, ast.Attribute):
                if _of_another(facts, names, binding.node.value):
                    continue
                if averaged_literally(facts, names, binding.node.value):
                    message = (
                        "nothing tests any longer whether this backward pass reduces: accumulated gradients "
                        "are averaged later"
                    )
                    yield required(facts, "HVD405", names, statement, message, edits.delete, names, statement)
                    continue
                message = "this sets on the optimizer whether the backward pass reduces"
                make = (by_switch, facts, names, statement, binding.node)
                yield required(facts, "HVD405", names, statement, message, *make)


def _of_another(facts: Facts, names: Names, model: ast.expr) -> bool:
    """Whether an attribute is of an object of the project's own that is no DDP, though it has its attributes."""
    held = facts.flow.values(names, model)
    return bool(held) and all(v.kind == "object" and not words.DDP & facts.flow.bases(v) for v in held)


def _never_runs(facts: Facts, names: Names, node: ast.Attribute) -> bool:
    """Whether a no_sync() is only for models of DDP, and no optimizer has hooks that count backward passes."""
    programs = [program for program in programs_with(facts, names) if program.kind == "ddp"]
    hooks = any(
        optimizer.names in program.files for program in programs for optimizer in averaging_optimizers(facts)
    )
    return for_ddp_only(names, node) and not hooks


RULE = Rule(
    id="HVD405",
    title="no_sync becomes a number of backward passes",
    what=(
        "Replaces model.no_sync() and model.require_backward_grad_sync by "
        "optimizer.set_backward_passes_per_step(): 2 before a backward pass that does not reduce, 1 before "
        "one that does. With --target hvdkit, `with hvd.accumulate(optimizer):`."
    ),
    why=(
        "Horovod's hooks count backward passes down and reduce at the last one. Left at 1, each of the "
        "passes under no_sync() would reduce, and the second one would raise an error."
    ),
    safety=(
        "Safe: the same backward passes reduce as under DDP, the last window of an epoch may be shorter, "
        "and the scaling of the loss stays. With two ranks in float32 the weights are bit-identical."
    ),
    check=check,
    average_after=AverageAfter.REFUSED,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if (i + 1) % 4 != 0:
                    with model.no_sync():
                        (model(x).sum() / 4).backward()
                else:
                    (model(x).sum() / 4).backward()
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                if (i + 1) % 4 != 0:
                    optimizer.set_backward_passes_per_step(2)
                    (model(x).sum() / 4).backward()
                    optimizer.set_backward_passes_per_step(1)
                else:
                    (model(x).sum() / 4).backward()
                    optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Alone(torch.nn.Module):
                def __init__(self, module):
                    super().__init__()
                    self.module, self.require_backward_grad_sync = module, False
                    self.require_backward_grad_sync = True

            dist.init_process_group("nccl")
            model = DDP(torch.nn.Linear(2, 1))
            model(x).sum().backward()
            """,
            reason="a class of the project that replaces DDP in a single process",
        ),
    ),
)
