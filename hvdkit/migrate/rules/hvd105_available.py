"""HVD105: torch.distributed.is_available() is no question any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit

AVAILABLE = "torch.distributed.is_available"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(AVAILABLE):
        if "ddp" in kinds_of(facts, site.names):
            message = (
                "torch.distributed is no longer used; the import already shows that Horovod is available"
            )
            yield safe(facts, "HVD105", site.names, site.node, message, _edits, site)


def _edits(site: Site) -> Edit:
    names, call = site.names, site.node
    parent = names.parents[call]
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        return _drop_operand(site, parent)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        statement = names.parents[parent]
        alone = isinstance(statement, ast.If) and statement.test is parent and not statement.orelse
        if isinstance(statement, ast.If) and alone and not names.source.is_elif(statement):
            return edits.delete(names, statement)
        outer = names.parents[parent]
        if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.Or):
            return _drop_operand(site, outer, parent)
    return edits.replace(names.source, call, "True")


def _drop_operand(site: Site, whole: ast.BoolOp, operand: ast.expr | None = None) -> Edit:
    """One operand of an `and` or `or` gone, with the word beside it."""
    source = site.names.source
    operand = operand or site.node
    position = whole.values.index(operand)
    if position + 1 < len(whole.values):
        start, end = source.start(operand), source.start(whole.values[position + 1])
    else:
        start, end = source.end(whole.values[position - 1]), source.end(operand)
    gap = source.text[start:end]
    if gap.count("(") != gap.count(")") or "#" in gap:
        return edits.replace(source, operand, "True" if isinstance(whole.op, ast.And) else "False")
    return Edit(start, end, "")


RULE = Rule(
    id="HVD105",
    title="is_available() is removed",
    what="Removes torch.distributed.is_available() from tests, and the early return it guards.",
    why="A torch built without its distributed package still runs Horovod, and would take the single-process path.",
    safety="Safe: with the script's `import horovod.torch` in place it can only be true.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            def is_dist_avail_and_initialized():
                if not dist.is_available():
                    return False
                if not dist.is_initialized():
                    return False
                return True

            def get_rank():
                return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0

            def synchronize():
                if not dist.is_available():
                    return

                dist.barrier()
            """,
            """\
            import torch.distributed as dist

            def is_dist_avail_and_initialized():
                if not dist.is_initialized():
                    return False
                return True

            def get_rank():
                return dist.get_rank() if dist.is_initialized() else 0

            def synchronize():
                dist.barrier()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            if torch.cuda.is_available():
                print("GPU")
            """,
            reason="whether there is a GPU is another question",
        ),
    ),
)
