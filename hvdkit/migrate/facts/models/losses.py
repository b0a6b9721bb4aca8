"""Which models a loss was computed with: those are the ones whose parameters its backward() reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import every_optimizer
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Binding, Names, children

CUTS = frozenset(("detach", "item", "numpy", "tolist"))
MAX_CALLS = 4
_NO_GRAD = {"torch.no_grad", "torch.inference_mode"}


def reached_models(
    facts: Facts, names: Names, backward: ast.Call, among: frozenset[Value] | None = None
) -> frozenset[Value]:
    """The models, of those that optimizers train or of some others, that a backward() goes through.

    Empty when none was found. Over-counts rather than under-counts: an optimizer that is reduced for nothing
    is slow, one that is not reduced is wrong.
    """
    if not isinstance(backward.func, ast.Attribute):
        return frozenset()
    if among is None:
        among = frozenset().union(*(optimizer.models for optimizer in every_optimizer(facts)))
    walk = _Walk(facts, among)
    walk.expression(names, backward.func.value, 0)
    for argument in backward.args:  # torch.autograd.backward(loss)
        walk.expression(names, argument, 0)
    return frozenset(walk.found)


class _Walk:
    """One walk backwards from a loss."""

    def __init__(self, facts: Facts, among: frozenset[Value]) -> None:
        self._facts = facts
        self._among = among
        self._seen: set[ast.AST] = set()
        self.found: set[Value] = set()

    def expression(self, names: Names, node: ast.AST, depth: int) -> None:
        """Everything that an expression was computed from."""
        if node in self._seen:
            return
        self._seen.add(node)
        if isinstance(node, ast.Name):
            for value in last_values(names, node):
                if not _without_gradients(names, value):
                    self.expression(names, value, depth)
            return
        if isinstance(node, ast.Attribute):
            if node.attr == "data":
                return
            self._model(names, node)
            for where, value in _kept(self._facts, names, node):
                if not _without_gradients(where, value):
                    self.expression(where, value, depth)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in CUTS:
                return
            self._model(names, node.func)
            self._inside(names, node, depth)
        for child in children(node):
            self.expression(names, child, depth)

    def _model(self, names: Names, called: ast.AST) -> None:
        base = called
        while True:  # model.head(x) goes through model
            values = self._facts.flow.unwrap(self._facts.flow.values(names, base))
            self.found |= values & self._among
            if not isinstance(base, ast.Attribute):
                return
            base = base.value

    def _inside(self, names: Names, call: ast.Call, depth: int) -> None:
        """Models that the project's own function calls."""
        if depth >= MAX_CALLS:
            return
        for where, function in self._facts.flow.functions(names, call):
            for part in where.calls_in(function):
                if part not in self._seen:
                    self._seen.add(part)
                    self._model(where, part.func)
                    self._inside(where, part, depth + 1)


def _kept(facts: Facts, names: Names, use: ast.Attribute) -> Iterator[tuple[Names, ast.expr]]:
    """What an attribute of an object holds at a use: `self.fake = self.G(x)`, in another method, too."""
    text = ast.unparse(use)
    function = names.function(use)
    here = [
        binding.value
        for target, binding in names.stores.get(use.attr, ())
        if names.function(target) is function
        and ast.unparse(binding.node) == text
        and binding.value is not None
    ]
    if here:
        yield from ((names, value) for value in here)
    else:
        found = facts.flow.stored(names, use)
        yield from ((where, binding.value) for where, binding in found if binding.value is not None)


def _without_gradients(names: Names, value: ast.expr) -> bool:
    """Whether a value is computed under `with torch.no_grad():`, as a temporal difference's target is."""
    return isinstance(value, (ast.Call, ast.BinOp)) and any(
        _NO_GRAD & set(names.qualified(item.context_expr.func))
        for parent in names.ancestors(value)
        if isinstance(parent, ast.With)
        for item in parent.items
        if isinstance(item.context_expr, ast.Call)
    )


def last_values(names: Names, use: ast.Name) -> Iterator[ast.expr]:
    """What a variable holds at a use: the bindings above it, back to one that every way here passes."""
    bindings = [b for b in names.bindings(use.id, use) if b.value is not None]
    around = {id(use), *map(id, names.ancestors(use))}
    above = [b for b in bindings if _line(b) <= use.lineno and id(_statement(names, b)) not in around]
    if names.scope(use).owner(use.id) is not names.scope(use) or not above:
        above = bindings
    for binding in sorted(above, key=_line, reverse=True):
        assert binding.value is not None
        yield binding.value
        always = id(names.parents.get(_statement(names, binding))) in around
        if binding.kind == "assign" and always:
            return


def _line(binding: Binding) -> int:
    return getattr(binding.node, "lineno", 0)


def _statement(names: Names, binding: Binding) -> ast.AST:
    node = binding.node
    return node if isinstance(node, (ast.arg, *FUNCTIONS)) else names.statement(node)
