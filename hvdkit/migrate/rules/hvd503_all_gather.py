"""HVD503: all_gather, all_gather_into_tensor and gather become Horovod's allgather, which returns its result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import (
    Part,
    at_once,
    atom,
    detached,
    fresh,
    process_set,
    same_again,
    under,
)
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

INTO = ("all_gather_into_tensor", "_all_gather_base")
NEEDED = {"all_gather": {"tensor_list", "tensor"}, "gather": {"tensor"}}
FRESH = (
    "zeros",
    "ones",
    "empty",
    "full",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "clone",
    "tensor",
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, "all_gather", "gather", *INTO):
        needed = NEEDED.get(call.function, {"output_tensor", "input_tensor"})
        problem = call.problem or ("" if needed <= set(call.given) else "its arguments were not understood")
        if problem:
            advice = "hvd.allgather(tensor.unsqueeze(0)) gives a tensor with one row for each rank"
            yield facts.manual("HVD503", call.names, call.node, f"{call.function} is left: {problem}", advice)
            continue
        make = _into if call.function in INTO else _gather if call.function == "gather" else _list
        message = f"{call.function} becomes allgather, whose result is put where it was"
        if call.function == "gather":
            message = "gather becomes allgather: every rank gets all, only the destination uses it"
        yield facts.safe("HVD503", call.names, call.node, message, make, facts, call)


def _rows(facts: Facts, call: Collective, tensor: ast.expr) -> list[Part]:
    """One row for each rank; a scalar gets a dimension, too."""
    gather = f"{facts.hvd(call.names)}.allgather("
    return [gather, *detached(call.names, tensor), ".unsqueeze(0)", *process_set(call), ")"]


def _list(facts: Facts, call: Collective) -> list[Edit]:
    into = call.given["tensor_list"]
    if _uneven(facts, call, into):
        name = call.names.source.segment(into)
        gathered = [f"{facts.hvd(call.names)}.allgather(", *detached(call.names, call.given["tensor"])]
        sizes = f").split([len(each) for each in {name}])"
        return _copy_rows(call, [into], [*gathered, *process_set(call), sizes])
    rows = _rows(facts, call, call.given["tensor"])
    if _only_new_tensors(facts, call, into):
        return at_once(call, [into, "[:] = ", *rows, ".unbind(0)"])
    # The list may hold views of a larger tensor, or tensors known elsewhere: they have to be filled.
    return _copy_rows(call, [into], rows)


def _copy_rows(call: Collective, into: list[Part], rows: list[Part]) -> list[Edit]:
    names = call.names
    out, row = fresh(names, "output"), fresh(names, "row")
    body = under(names, call.statement)
    return at_once(call, [f"for {out}, {row} in zip(", *into, ", ", *rows, f"):{body}{out}.copy_({row})"])


def _only_new_tensors(facts: Facts, call: Collective, into: ast.expr) -> bool:
    """Whether a list holds nothing but tensors made in the list itself, which nobody else can know."""
    if not isinstance(into, ast.Name):
        return False
    owner = call.names.scope(into).owner(into.id)
    if any(
        isinstance(use.ctx, ast.Load) and use.lineno < call.node.lineno
        for use in call.names.uses[into.id]
        if call.names.scope(use).owner(into.id) is owner
    ):
        return False
    values = facts.flow.values(call.names, into)
    if not values or any(value.kind != "literal" for value in values):
        return False
    for value in values:
        elements = (
            [value.node.elt] if isinstance(value.node, ast.ListComp) else getattr(value.node, "elts", [])
        )
        if not elements or not all(_makes_tensor(element) for element in elements):
            return False
    return True


def _uneven(facts: Facts, call: Collective, into: ast.expr) -> bool:
    """Whether the tensors of a list are made in sizes of their own: `[torch.empty(n) for n in sizes]`."""
    values = facts.flow.values(call.names, into) if same_again(into) else frozenset()
    return any(isinstance(value.node, ast.ListComp) and _sized_apart(value.node) for value in values)


def _sized_apart(made: ast.ListComp) -> bool:
    """Whether a loop's variable is among the arguments by place of what makes a tensor."""
    targets = [part for loop in made.generators for part in ast.walk(loop.target)]
    names = {part.id for part in targets if isinstance(part, ast.Name)}
    node: ast.AST = made.elt
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in FRESH:
            sizes = [*node.args, *(item.value for item in node.keywords if item.arg == "size")]
            return any(isinstance(p, ast.Name) and p.id in names for size in sizes for p in ast.walk(size))
        node = node.func.value
    return False


def _makes_tensor(node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in FRESH:
            return True
        node = node.func.value
    return False


def _into(facts: Facts, call: Collective) -> list[Edit]:
    out, tensor = call.given["output_tensor"], call.given["input_tensor"]
    gather = f"{facts.hvd(call.names)}.allgather("
    rows: list[Part] = [gather, *detached(call.names, tensor), *process_set(call), ")"]
    if not same_again(out):
        raise edits.CannotEdit("its output is an expression that must not be evaluated twice")
    name = call.names.source.segment(out)
    return at_once(call, [*atom(out), ".copy_(", *rows, f".view_as({name}))"])


def _gather(facts: Facts, call: Collective) -> list[Edit]:
    into = call.given.get("gather_list")
    rows = _rows(facts, call, call.given["tensor"])
    if into is None:
        return at_once(call, rows)
    filled: list[Part] = (
        [*atom(into)] if isinstance(into, (ast.List, ast.ListComp)) else ["(", into, " or ())"]
    )
    return _copy_rows(call, filled, rows)


RULE = Rule(
    id="HVD503",
    title="all_gather becomes allgather",
    what=(
        "Replaces torch.distributed.all_gather, all_gather_into_tensor and gather by hvd.allgather, and puts what "
        "it returns where torch puts it."
    ),
    why=(
        "hvd.allgather returns one tensor, joined along the first dimension, which a scalar does not have; torch "
        "fills the tensors of a list."
    ),
    safety=(
        "Safe: same values in the same places. The input is detached, since Horovod's gather passes gradients on "
        "and torch's does not. A list that was made of new tensors gets new contents; any other list, which may "
        "hold views of a larger tensor, is filled tensor by tensor. Tensors are of one shape, as torch asks for; where "
        "the list is made with a size for each, which NCCL takes, what all ranks gave is split by their lengths, and "
        "the other dimensions have to be the same. gather costs every rank the memory that only "
        "the destination used."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import torch.distributed as dist

            def everyone(boxes, counts):
                all_boxes = [torch.empty(count, 4, device=boxes.device) for count in counts]
                dist.all_gather(all_boxes, boxes)
                return torch.cat(all_boxes)
            """,
            """\
            import horovod.torch as hvd
            import torch

            def everyone(boxes, counts):
                all_boxes = [torch.empty(count, 4, device=boxes.device) for count in counts]
                for output, row in zip(all_boxes, hvd.allgather(boxes.detach()).split([len(each) for each in all_boxes])):
                    output.copy_(row)
                return torch.cat(all_boxes)
            """,
            note="Each rank has another number of boxes.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def gather(tensors):
                found = []
                for tensor in tensors:
                    parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
                    dist.all_gather(
                        parts,
                        tensor,
                        async_op=False  # performance opt
                    )
                    found.append(torch.cat(parts))
                return found
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def gather(tensors):
                found = []
                for tensor in tensors:
                    parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
                    # performance opt
                    parts[:] = hvd.allgather(tensor.detach().unsqueeze(0)).unbind(0)
                    found.append(torch.cat(parts))
                return found
            """,
            note="A comment between the arguments moves above the statement.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def everyone(predictions, size):
                gathered = [torch.zeros_like(predictions) for _ in range(size)]
                dist.all_gather(gathered, predictions)
                return torch.cat(gathered)
            """,
            """\
            import horovod.torch as hvd
            import torch

            def everyone(predictions, size):
                gathered = [torch.zeros_like(predictions) for _ in range(size)]
                gathered[:] = hvd.allgather(predictions.detach().unsqueeze(0)).unbind(0)
                return torch.cat(gathered)
            """,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            @torch.no_grad()
            def everyone(part, whole):
                parts = list(whole.unbind(0))
                work = dist.all_gather(parts, part, async_op=True)
                work.wait()
                return whole
            """,
            """\
            import horovod.torch as hvd
            import torch

            @torch.no_grad()
            def everyone(part, whole):
                parts = list(whole.unbind(0))
                for output, row in zip(parts, hvd.allgather(part.unsqueeze(0))):
                    output.copy_(row)
                return whole
            """,
            note="The list holds views of a tensor that is used afterwards: they are filled.",
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.all_gather_into_tensor(everything, mine + 1)
            """,
            """\
            import horovod.torch as hvd

            everything.copy_(hvd.allgather((mine + 1).detach()).view_as(everything))
            """,
        ),
        Change(
            """\
            import torch.distributed as dist

            parts = [make() for _ in range(size)] if rank == 0 else None
            dist.gather(part, gather_list=parts, dst=0)
            """,
            """\
            import horovod.torch as hvd

            parts = [make() for _ in range(size)] if rank == 0 else None
            for output, row in zip((parts or ()), hvd.allgather(part.detach().unsqueeze(0))):
                output.copy_(row)
            """,
            note="Ranks that give no list take part and throw away what they get.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def gather(x, outs):
                rows = [torch.zeros_like(x) for _ in range(2)]
                print(rows)
                dist.all_gather(rows, x)
                dist.all_gather([out.view(-1) for out in outs], x)
                mixed = [x, torch.empty_like(x)]
                dist.all_gather(mixed, x)
                return rows, mixed
            """,
            """\
            import horovod.torch as hvd
            import torch

            def gather(x, outs):
                rows = [torch.zeros_like(x) for _ in range(2)]
                print(rows)
                for output, row in zip(rows, hvd.allgather(x.detach().unsqueeze(0))):
                    output.copy_(row)
                for output, row in zip([out.view(-1) for out in outs], hvd.allgather(x.detach().unsqueeze(0))):
                    output.copy_(row)
                mixed = [x, torch.empty_like(x)]
                for output, row in zip(mixed, hvd.allgather(x.detach().unsqueeze(0))):
                    output.copy_(row)
                return rows, mixed
            """,
            note="Lists that were looked at, or that hold tensors known elsewhere, are filled.",
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.gather(x, dst=0)
            """,
            """\
            import horovod.torch as hvd

            hvd.allgather(x.detach().unsqueeze(0))
            """,
            note="Ranks that are no destination give no list.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def gather(x, outputs, row):
                output = row
                with torch.no_grad():
                    dist.all_gather(outputs, x)
                return output
            """,
            """\
            import horovod.torch as hvd
            import torch

            def gather(x, outputs, row):
                output = row
                with torch.no_grad():
                    for output_, row_ in zip(outputs, hvd.allgather(x.unsqueeze(0))):
                        output_.copy_(row_)
                return output
            """,
            note="The variables of the loop take names that are free; under no_grad nothing is detached.",
        ),
        Change(
            """\
            import torch.distributed as dist

            if ready: dist.all_gather(parts, part)
            """,
            """\
            import horovod.torch as hvd

            if ready:
                for output, row in zip(parts, hvd.allgather(part.detach().unsqueeze(0))):
                    output.copy_(row)
            """,
            note="A loop cannot follow on the line of its if.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            work = dist.all_gather(parts, part, async_op=True)
            pending.add(work)
            """,
            reason="the handle goes where it cannot be followed",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            work = dist.all_gather(parts, part, async_op=True)
            while not work.is_completed():
                compute()
            """,
            reason="the handle is asked whether it is done, and Horovod has none for what it returns at once",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            class Trainer:
                def __init__(self):
                    self.group = None

                def start(self, hosts, here):
                    groups = []
                    for ranks in hosts:
                        groups.append(dist.new_group(ranks))
                    self.group = groups[here]

                def gather(self, parts, part):
                    dist.all_gather(parts, part, group=self.group)
            """,
            reason="the group is one out of a list, and None only before the start",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_gather_into_tensor(buffers.pop(), mine)
            """,
            reason="the output must not be evaluated twice",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_gather(parts, part), dist.all_gather(others, other)
            """,
            reason="an assignment cannot stand between commas",
            reported=True,
        ),
        Keep(
            """\
            import torch

            torch.gather(x, 1, index)
            """,
            reason="picking elements by index has nothing to do with ranks",
        ),
    ),
)
