"""HVD881: gradient_predivide_factor with a reduction other than the average."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, "DistributedOptimizer", "DistributedGradientTape"):
        factor = next((k for k in site.node.keywords if k.arg == "gradient_predivide_factor"), None)
        op = keyword(site.node, "op")
        if factor is None or op is None:
            continue
        names = facts.flow.qualified(site.names, op)
        other = bool(names) and all(name.endswith((".Sum", ".Adasum")) for name in names)
        changes = isinstance(factor.value, ast.Constant) and factor.value.value not in (1, None)
        if other and changes:
            message = "gradient_predivide_factor works only with op=hvd.Average: ValueError"
            yield safe(
                facts,
                "HVD881",
                site.names,
                site.node,
                message,
                edits.drop_argument,
                site.names.source,
                site.node,
                factor,
            )


RULE = Rule(
    id="HVD881",
    title="gradient_predivide_factor without averaging",
    what='It raises "gradient_predivide_factor not supported with op != Average".',
    why="the factor splits the division of an average in two, before and after the sum; a sum is not divided.",
    safety="Safe: the factor is removed, and the reduction stays as given.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd

            hvd.init()
            optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Sum, gradient_predivide_factor=2.0)
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Sum)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Average, gradient_predivide_factor=2.0)
            other = hvd.DistributedOptimizer(optimizer, op=hvd.Sum, gradient_predivide_factor=1.0)
            """,
            reason="an average is divided; a factor of one has no effect",
        ),
    ),
)
