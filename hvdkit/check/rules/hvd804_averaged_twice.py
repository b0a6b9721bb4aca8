"""HVD804: an average over the ranks is divided by their number once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import averages, horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

ALLREDUCE = frozenset(f"{module}.allreduce" for module in words.EVERY_HOROVOD)
SAME = ("item", "cpu", "float", "double", "detach", "numpy", "clone")
MESSAGE = (
    "allreduce has averaged this already: dividing by the number of ranks makes it too small by that factor"
)


def check(facts: Facts) -> Iterator[Finding]:
    for names in sorted(horovod_files(facts), key=lambda names: str(names.source.path)):
        for node in list(names.parents):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                if _is_size(facts, names, node.right) and _averaged(facts, names, node.left):
                    yield safe(
                        facts, "HVD804", names, node, MESSAGE, edits.unwrap, names.source, node, node.left
                    )
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
                if isinstance(node.target, ast.Name) and _is_size(facts, names, node.value):
                    if _just_averaged(facts, names, node):
                        yield safe(facts, "HVD804", names, node, MESSAGE, edits.delete, names, node)


def _is_size(facts: Facts, names: Names, node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        return len(node.args) == 1 and _is_size(facts, names, node.args[0])
    return rank_kinds(facts).of(names, node) == {"size"}


def _averaged(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is what an averaging allreduce returned, and nothing else."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in SAME and not node.args:
            node = node.func.value
        elif isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1:
            node = node.args[0]
        else:
            break
    if isinstance(node, ast.Name):
        kinds = {(binding.kind, bool(binding.path)) for binding in names.bindings(node.id, node)}
        if kinds != {("assign", False)}:
            return False  # something is added to it, or it comes from outside
    values = facts.flow.values(names, node)
    return bool(values) and all(
        value.kind == "made"
        and value.name in ALLREDUCE
        and isinstance(value.node, ast.Call)
        and averages(facts, Site(value.names, value.node, value.name))
        for value in values
    )


def _just_averaged(facts: Facts, names: Names, node: ast.AugAssign) -> bool:
    """`x = hvd.allreduce(x)` right above `x /= hvd.size()`."""
    block = edits.block(names, node)
    above = block[block.index(node) - 1] if block.index(node) else None
    if not isinstance(above, ast.Assign) or not isinstance(node.target, ast.Name):
        return False
    assigned = above.targets[0]
    same = isinstance(assigned, ast.Name) and assigned.id == node.target.id
    return same and _averaged(facts, names, above.value)


RULE = Rule(
    id="HVD804",
    title="an average is divided by the number of ranks again",
    what="The metric comes out too small by a factor of hvd.size(): with 8 ranks an accuracy of 0.8 reads 0.1.",
    why="hvd.allreduce averages by default; torch.distributed.all_reduce sums, and is divided by hand.",
    safety="Safe: the division is removed. Where the sum was intended, op=hvd.Sum and the division give the same number.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd

            hvd.init()
            loss = hvd.allreduce(local_loss, name="loss") / hvd.size()
            accuracy = hvd.allreduce(local_accuracy)
            accuracy /= hvd.size()
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            loss = hvd.allreduce(local_loss, name="loss")
            accuracy = hvd.allreduce(local_accuracy)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            loss = hvd.allreduce(local_loss, op=hvd.Sum) / hvd.size()
            old = hvd.allreduce(local_loss, average=False) / hvd.size()
            share = hvd.allreduce(local_loss) / len(data)
            """,
            reason="the sum is divided once, or the average by a different number",
        ),
    ),
)
