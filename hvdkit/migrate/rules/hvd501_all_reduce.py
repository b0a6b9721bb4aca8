"""HVD501: all_reduce and reduce in place become allreduce_ in place, with its reduction written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.decisions.collectives import all_reduces
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import reduction_constants
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

NARROW = "for such a tensor write tensor.copy_(hvd.allreduce(tensor.int(), op=hvd.Sum))"
ADVICE = "write hvd.allreduce_(tensor, op=hvd.Sum) (in place; Horovod's default is Average)"


def check(facts: Facts) -> Iterator[Finding]:
    for decision in all_reduces(facts):
        names, node, operation = decision.call.names, decision.call.node, decision.operation
        function = decision.call.function
        if decision.problem:
            advice = ADVICE if decision.narrow is False else NARROW
            yield manual("HVD501", names, node, f"{function} is left: {decision.problem}", advice)
            continue
        message = f"{function} becomes allreduce_, in place as before, op={operation or 'as passed'}"
        if function == "reduce":
            message += ": the other ranks' tensors, undefined under torch, get the result too"
        if decision.narrow:
            message = (
                f"Horovod cannot reduce a tensor of this type: a copy as integers is reduced, op={operation}"
            )
        yield safe(facts, "HVD501", names, node, message, decision.made)
    for names, constant, operation in reduction_constants(facts):
        if not _argument(facts, names, constant):
            text = f"{horovod_name(facts, names)}.{operation}"
            message = f"the reduction becomes {text}, where it is passed on"
            yield safe(facts, "HVD501", names, constant, message, edits.replace, names.source, constant, text)


def _argument(facts: Facts, names: Names, node: ast.Attribute) -> bool:
    """Whether a reduction is an argument of torch's own call, which is written anew or stays as it is."""
    call = next((parent for parent in names.ancestors(node) if isinstance(parent, ast.Call)), None)
    called = facts.flow.qualified(names, call.func) if call is not None else ()
    return any(name.startswith("torch.distributed.") for name in called)


RULE = Rule(
    id="HVD501",
    title="all_reduce becomes allreduce_",
    what=(
        "Replaces torch.distributed.all_reduce and reduce by hvd.allreduce_ with the reduction written out; an "
        "asynchronous one by allreduce_async_, its handle's wait() and is_completed() by hvd.synchronize "
        "and hvd.poll."
    ),
    why=(
        "torch sums in place by default; Horovod averages by default, allreduce returns a new tensor, and "
        "there is no reduction to one rank."
    ),
    safety=(
        "Safe: same tensor, same reduction; after a reduce, the tensors of the ranks to which torch sends "
        "nothing have the result too. For a tensor of bytes, 16-bit integers or Booleans, which "
        "Horovod does not reduce, it reduces a copy as integers. Horovod raises on bfloat16 "
        "tensors and on tensors that are not contiguous: cast them first. Groups that are not process "
        "sets, and handles that cannot be followed, are left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.all_reduce(total)
            dist.all_reduce(counts[0], op=dist.ReduceOp.MAX)
            dist.all_reduce(tensor=best, async_op=False, op=dist.ReduceOp.MIN, group=None)
            dist.all_reduce(mean, dist.ReduceOp.AVG, dist.group.WORLD)
            everyone = dist.new_group(backend="gloo")
            dist.all_reduce(total, group=everyone)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            hvd.allreduce_(total, op=hvd.Sum)
            hvd.allreduce_(counts[0], op=hvd.Max)
            hvd.allreduce_(best, op=hvd.Min)
            hvd.allreduce_(mean, op=hvd.Average)
            everyone = dist.new_group(backend="gloo")
            hvd.allreduce_(total, op=hvd.Sum)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            class Ring:
                def all_reduce(self, tensor):
                    return tensor

            Ring().all_reduce(total)
            """,
            reason="a method of that name is not torch.distributed's",
        ),
    ),
)
