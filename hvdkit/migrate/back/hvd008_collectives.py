"""HVD008: Horovod's collectives, with their meaning, on torch.distributed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.horovod_wraps import called, short
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_arguments import all_names
from hvdkit.migrate.rewrites.ddp_helpers import in_file, with_dist
from hvdkit.migrate.rewrites.ddp_names import FUNCTIONS, NAMES
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given, is_constant, is_on, unpacks
from hvdkit.source.edits import Edit

REDUCES = ("allreduce", "allreduce_", "allreduce_async", "allreduce_async_")
REDUCTIONS = {name: NAMES[name] for name in ("Average", "Sum", "Min", "Max", "Product")}
SCALED = ("process_set", "prescale_factor", "postscale_factor", "session")


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *FUNCTIONS, modules=words.HOROVOD):
        if site.name.startswith("hvdkit.") and short(site) == "broadcast":
            continue  # hvdkit's own broadcasts a model with its optimizer: HVD009
        problem = _problem(site)
        op = _reduction(facts, site) if short(site) in REDUCES and not problem else ""
        if problem or op is None:
            message = f"{short(site)}() cannot be written with torch.distributed"
            advice = problem or "its reduction could not be followed: write op=hvd.Average or op=hvd.Sum"
            yield refused("HVD008", site.names, site.node, message, advice)
        else:
            message = f"{short(site)}() keeps its meaning in a function on torch.distributed"
            yield safe(facts, "HVD008", site.names, site.node, message, _written, site, op)


def _problem(site: Site) -> str:
    """What keeps a call from being rewritten, with what to do."""
    wanted, _ = FUNCTIONS[short(site)]
    if unpacks(site.node):
        return "write out its arguments"
    for name in SCALED:
        if is_on(given(site.node, -1, name)):
            return f"it has {name}: remove it, or keep Horovod for it"
    missing = [name for name in wanted if _argument(site, name) is None and name != "root_rank"]
    return f"pass {missing[0]}" if missing else ""


def _argument(site: Site, name: str) -> ast.expr | None:
    _, order = FUNCTIONS[short(site)]
    return given(site.node, order.index(name), name) if name in order else None


def _reduction(facts: Facts, site: Site) -> str | None:
    """The reduction as it is written, "" for the average; None where it could not be followed."""
    op, average = given(site.node, -1, "op") or _argument(site, "op"), _argument(site, "average")
    if op is None or is_constant(op, None):
        if average is None or is_constant(average, True) or is_constant(average, None):
            return ""
        if is_constant(average, False):
            return REDUCTIONS["Sum"]
        return f"None if {site.names.source.segment(average)} in (None, True) else {REDUCTIONS['Sum']}"
    names = {name.rpartition(".")[2] for name in all_names(facts, site.names, op)}
    if not names or not names <= REDUCTIONS.keys():
        return None
    if len(names) > 1 or not facts.flow.qualified(site.names, op):
        return site.names.source.segment(op)  # a variable, whose values become these reductions
    return "" if names == {"Average"} else REDUCTIONS[next(iter(names))]


def _written(site: Site, op: str) -> list[Edit]:
    source, call = site.names.source, site.node
    if isinstance(site.names.parents[call], ast.Expr) and (in_place := _in_place(site, op)):
        return edits.recast(source, call, in_place, site.names.statement(call))
    helper, name = in_file(site.names, short(site))
    parts: list[str | ast.expr] = [f"{name}("]
    for parameter in FUNCTIONS[short(site)][0]:
        value = _argument(site, parameter)
        if value is not None:
            parts += [value] if len(parts) == 1 else [", ", value]
        elif short(site) != "broadcast_object":
            parts.append(", 0")
    if op:
        parts.append(with_dist(site.names, f", {op}"))
    return [helper, *edits.recast(source, call, [*parts, ")"], site.names.statement(call))]


def _in_place(site: Site, op: str) -> list[str | ast.expr]:
    """The call of torch.distributed that does the same in place, for a statement whose result is not used."""
    tensor, root = _argument(site, "tensor"), given(site.node, 1, "root_rank")
    if short(site) == "allreduce_" and op in REDUCTIONS.values() and tensor is not None:
        return [with_dist(site.names, "dist.all_reduce("), tensor, with_dist(site.names, f", op={op})")]
    if short(site) == "broadcast_" and tensor is not None and root is not None:
        return [with_dist(site.names, "dist.broadcast("), tensor, ", src=", root, ")"]
    return []


RULE = Rule(
    id="HVD008",
    title="Collectives of Horovod on torch.distributed",
    what="Replaces allreduce, allgather, broadcast and their like by functions of the same name, written into the "
    "file.",
    why="torch.distributed.all_reduce sums in place and returns None, where hvd.allreduce returns an average in a "
    "new tensor. all_gather needs the same number of rows on every rank.",
    safety="Safe: the functions average, truncate integers and pass gradients on as Horovod does, and gather "
    "different numbers of rows. The name of a collective is dropped, and its compression: Horovod matches "
    "asynchronous ones by it, torch.distributed by the order of the calls. A broadcast passes no gradient on.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hits = torch.ones(1)
            hvd.allreduce_(hits, op=hvd.Sum, name="hits")
            hvd.allreduce_(hits, name="share")
            """,
            '''\
            import torch
            import torch.distributed as dist


            def allreduce_(tensor, op=None):
                """The mean over all ranks in the tensor itself, truncated for integers; op: a different reduction."""
                dist.all_reduce(tensor, op or dist.ReduceOp.SUM)
                if op is not None:
                    return tensor
                integers = not (tensor.is_floating_point() or tensor.is_complex())
                return tensor.div_(dist.get_world_size(), rounding_mode="trunc" if integers else None)

            hits = torch.ones(1)
            dist.all_reduce(hits, op=dist.ReduceOp.SUM)
            allreduce_(hits)
            ''',
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.allreduce(torch.ones(1), op=hvd.Adasum)
            """,
            reason="torch.distributed has no such reduction",
            reported=True,
        ),
    ),
)
