"""HVD803: average= is the old way to name the reduction."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.plan import Finding

FUNCTIONS = ("allreduce", "allreduce_", "allreduce_async", "allreduce_async_", "grouped_allreduce")


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *FUNCTIONS):
        said = next((k for k in site.node.keywords if k.arg == "average"), None)
        if said is None or (isinstance(said.value, ast.Constant) and said.value.value is None):
            continue
        op = next((k.value for k in site.node.keywords if k.arg == "op"), None)
        if op is not None:
            if not isinstance(said.value, ast.Constant) or isinstance(op, (ast.Constant, ast.Name)):
                continue  # a function that hands on both: one of them may be None
            message = "average= and op= are both given: Horovod raises ValueError"
            yield safe(
                facts,
                "HVD803",
                site.names,
                site.node,
                message,
                edits.drop_argument,
                site.names.source,
                site.node,
                said,
            )
            continue
        message = (
            "average= is deprecated and will be removed in the next major version: op= names the reduction"
        )
        word = _word(site, said)
        if word is None:
            yield manual("HVD803", site.names, site.node, message, "give op=hvd.Average or op=hvd.Sum")
        else:
            yield safe(
                facts, "HVD803", site.names, site.node, message, edits.replace, site.names.source, said, word
            )


def _word(site: Site, said: ast.keyword) -> str | None:
    constant = said.value.value if isinstance(said.value, ast.Constant) else None
    if not isinstance(constant, bool) or not isinstance(site.node.func, ast.Attribute):
        return None
    return f"op={site.names.source.segment(site.node.func.value)}.{'Average' if constant else 'Sum'}"


RULE = Rule(
    id="HVD803",
    title="average= instead of op=",
    what="hvd.allreduce(x, average=False) warns that the parameter is deprecated; together with op=, it raises.",
    why="since 0.19 the reduction is named: hvd.Average, hvd.Sum, hvd.Adasum, hvd.Min, hvd.Max, hvd.Product.",
    safety="Safe: average=True is op=hvd.Average and average=False is op=hvd.Sum.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd

            hvd.init()
            total = hvd.allreduce(count, average=False)
            mean = hvd.allreduce(loss, name="loss", average=True)
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            total = hvd.allreduce(count, op=hvd.Sum)
            mean = hvd.allreduce(loss, name="loss", op=hvd.Average)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            total = hvd.allreduce(count, op=hvd.Sum)
            mean = numpy.average(count)
            """,
            reason="the reduction is named, or this is not a collective",
        ),
    ),
)
