"""HVD501: all_reduce in place becomes allreduce_ in place, with its reduction written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

OPERATIONS = {"SUM": "Sum", "AVG": "Average", "MAX": "Max", "MIN": "Min", "PRODUCT": "Product"}


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls("torch.distributed.all_reduce"):
        given = dict(zip(("tensor", "op"), site.node.args))
        given.update({keyword.arg: keyword.value for keyword in site.node.keywords if keyword.arg})
        operation = _operation(site, given.get("op"))
        problem = ""
        if set(given) - {"tensor", "op"} or len(site.node.args) > 2:
            problem = "it names a group, or is asynchronous"
        elif operation is None:
            problem = "its reduction is not written in the call"
        if problem or "tensor" not in given:
            advice = "write hvd.allreduce_(tensor, op=hvd.Sum) (in place; Horovod's default is Average)"
            yield facts.manual("HVD501", site.names, site.node, f"all_reduce is left: {problem}", advice)
            continue
        message = f"all_reduce becomes allreduce_, in place as before, op={operation}"
        yield facts.safe(
            "HVD501",
            site.names,
            site.node,
            message,
            _edits,
            facts,
            site,
            given["tensor"],
            operation,
        )


def _operation(site: Site, node: ast.expr | None) -> str | None:
    if node is None:
        return "Sum"
    for name in site.names.qualified(node):
        module, _, last = name.rpartition(".")
        if module.startswith("torch.distributed") and last in OPERATIONS:
            return OPERATIONS[last]
    return None


def _edits(facts: Facts, site: Site, tensor: ast.expr, operation: str) -> list[Edit]:
    source, call = site.names.source, site.node
    hvd = facts.hvd(site.names)
    return [
        Edit(source.start(call), source.start(tensor), f"{hvd}.allreduce_("),
        Edit(source.end(tensor), source.end(call), f", op={hvd}.{operation})"),
    ]


RULE = Rule(
    id="HVD501",
    title="all_reduce becomes allreduce_",
    what="Replaces torch.distributed.all_reduce by hvd.allreduce_ with the reduction written out.",
    why="torch sums in place by default; Horovod averages by default and allreduce gives a new tensor.",
    safety="Safe: same tensor, same reduction. Groups and asynchronous calls are left to the person.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.all_reduce(total)
            dist.all_reduce(counts[0], op=dist.ReduceOp.MAX)
            """,
            """\
            import horovod.torch as hvd

            hvd.allreduce_(total, op=hvd.Sum)
            hvd.allreduce_(counts[0], op=hvd.Max)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            work = dist.all_reduce(total, async_op=True)
            """,
            reason="the handle is waited for somewhere",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            dist.all_reduce(total, op=choose())
            """,
            reason="which reduction it is, is decided at run time",
            reported=True,
        ),
    ),
)
