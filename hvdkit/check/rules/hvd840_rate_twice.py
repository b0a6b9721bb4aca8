"""HVD840: the learning rate is multiplied by the number of ranks twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Binding, Names

MAX_STEPS = 6


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for optimizer in averaging_optimizers(facts):
        rate = keyword(optimizer.node, "lr") or next(iter(optimizer.node.args[1:2]), None)
        if optimizer.names in files and rate is not None and _factors(facts, optimizer.names, rate) > 1:
            message = "the learning rate is multiplied by hvd.size() twice on its way here"
            advice = "multiply it once, where it is given to the optimizer"
            yield manual("HVD840", optimizer.names, rate, message, advice)


def _factors(facts: Facts, names: Names, node: ast.expr, steps: int = 0) -> int:
    """How often the number of ranks is certainly a factor of an expression."""
    if steps > MAX_STEPS:
        return 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _factors(facts, names, node.left, steps + 1) + _factors(facts, names, node.right, steps + 1)
    if rank_kinds(facts).of(names, node) == {"size"}:
        return 1
    bindings = _stores(names, node)
    plain = [binding for binding in bindings if binding.kind == "assign"]
    if len(plain) != 1 or plain[0].path or plain[0].value is None or _under_test(names, plain[0].node):
        return 0
    found = _factors(facts, names, plain[0].value, steps + 1)
    return found + sum(_scales(facts, names, binding) for binding in bindings if binding is not plain[0])


def _stores(names: Names, node: ast.expr) -> list[Binding]:
    if isinstance(node, ast.Name):
        return names.bindings(node.id, node)
    if isinstance(node, ast.Attribute):
        same = ast.dump(node.value)
        return [binding for target, binding in names.stores.get(node.attr, ()) if ast.dump(target) == same]
    return []


def _scales(facts: Facts, names: Names, binding: Binding) -> int:
    """Whether a binding is `x *= hvd.size()`, under no test."""
    statement = names.statement(binding.node)
    times = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Mult)
    if not times or binding.value is None or _under_test(names, statement):
        return 0
    return int(rank_kinds(facts).of(names, binding.value) == {"size"})


def _under_test(names: Names, node: ast.AST) -> bool:
    return any(
        isinstance(parent, (ast.If, ast.IfExp, ast.For, ast.While)) for parent in names.ancestors(node)
    )


RULE = Rule(
    id="HVD840",
    title="the learning rate is scaled twice",
    what="With N ranks the rate is N * N times the given one: the loss grows, or becomes NaN, the more ranks there are.",
    why="the linear scaling rule multiplies once, for a global batch that is N times as large.",
    safety="Nothing is edited: which of the two factors is intended is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            rate = 0.1 * hvd.size()
            optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size())
            """,
            reason="the rate already contains the factor",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            scale = hvd.size() if args.scale else 1
            rate = 0.1
            if args.linear:
                rate = 0.1 * hvd.size()
            optimizer = torch.optim.SGD(model.parameters(), lr=rate * scale)
            """,
            reason="each factor depends on a test",
        ),
    ),
)
