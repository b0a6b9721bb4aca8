"""Gradients that a program sends through a collective itself, without DDP."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import passed
from hvdkit.source.index.names import Names

COLLECTIVES = tuple(
    f"torch.distributed.{name}"
    for name in (
        "all_reduce",
        "all_reduce_coalesced",
        "all_reduce_multigpu",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_tensor",
        "all_gather",
        "all_gather_into_tensor",
    )
)
# The same of Horovod's.
REDUCTIONS = ("allreduce", "allreduce_", "allreduce_async", "allreduce_async_", "reducescatter")
BY_HOROVOD = tuple(f"{module}.{name}" for module in words.HOROVOD for name in REDUCTIONS)
# What keeps a gradient a gradient: a norm or a sum of it is a statistic.
KEEPS = {"detach", "view", "view_as", "reshape", "flatten", "contiguous", "float", "half", "to", "clone"}
KEEPS |= {"div", "div_", "mul_", "cat", "stack", "list", "tuple"}
KEEPS |= {"_flatten_dense_tensors", "flatten_dense_tensors"}


@once
def hand_reductions(facts: Facts, collectives: tuple[str, ...] = COLLECTIVES) -> list[Site]:
    """Collectives, of torch.distributed where no others are meant, that are given gradients."""

    def is_given_gradients(site: Site) -> bool:
        gradients = Gradients(facts)
        return any(gradients.among(site.names, argument) for argument in site.node.args)

    return [site for site in facts.calls(*collectives) if is_given_gradients(site)]


class Gradients:
    """One search for gradients; every expression is looked at once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._seen: set[ast.AST] = set()

    def among(self, names: Names, node: ast.AST | None) -> bool:
        """Whether an expression may be a gradient, or gradients in a list or laid end to end."""
        if node is None or node in self._seen:
            return False
        self._seen.add(node)
        if isinstance(node, ast.Attribute):
            return (node.attr == "grad" and self._facts.of_object(names, node)) or (
                node.attr == "data" and self.among(names, node.value)
            )
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in KEEPS:
                return self._given_back(names, node)
            receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return any(self.among(names, part) for part in (*node.args, *receiver))
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(self.among(names, part) for part in node.elts)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.among(names, node.elt)
        if isinstance(node, ast.BinOp):
            return self.among(names, node.left) or self.among(names, node.right)
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.among(names, node.value)
        return isinstance(node, ast.Name) and self._named(names, node)

    def _given_back(self, names: Names, call: ast.Call) -> bool:
        """Whether a function of the project gives gradients back, such as one that lays them end to end."""
        return any(
            self.among(where, result)
            for where, function in self._facts.flow.functions(names, call)
            for result in where.returns.get(function, ())
        )

    def _named(self, names: Names, node: ast.Name) -> bool:
        for binding in names.bindings(node.id, node):
            if binding.kind in ("assign", "each") and self.among(names, binding.value):
                return True
            if binding.kind == "param":
                function = names.function(node)
                if function is None:
                    continue
                for where, call in self._facts.flow.call_sites(names, function):
                    given = passed(names, function, where, call, node.id)
                    if self.among(where, given):
                        return True
        owner = names.scope(node).owner(node.id)
        for call in names.calls.get("append", ()):
            target = call.func.value if isinstance(call.func, ast.Attribute) else None
            same = isinstance(target, ast.Name) and target.id == node.id
            if same and names.scope(call).owner(node.id) is owner:
                if any(self.among(names, argument) for argument in call.args):
                    return True
        return False
