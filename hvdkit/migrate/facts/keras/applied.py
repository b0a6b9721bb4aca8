"""Optimizer steps of TensorFlow, and the gradients that each applies, however they come there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.additions import ASSIGNS, additions, container, held_in, iterated
from hvdkit.migrate.facts.keras.gradients import Gradient, gradient_of
from hvdkit.migrate.facts.keras.keras_optimizers import is_optimizer
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

MAX_STEPS = 6


@dataclass(frozen=True)
class Applied:
    """`optimizer.apply_gradients(...)`, `.apply(...)` or `.minimize(...)`. gradients: what it applies.

    changed: whether something (clipping, scaling, adding up) happens to the gradients on the way.
    """

    names: Names
    node: ast.Call
    optimizer: ast.expr
    gradients: tuple[Gradient, ...]
    changed: bool


Origin = tuple[Gradient, bool]


@once
def applied_gradients(facts: Facts) -> tuple[Applied, ...]:
    """Every application of gradients that a tape took."""
    found = []
    for names, call, receiver in _steps(facts):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "minimize":
            own = gradient_of(facts, names, call)
            origins = {(own, False): None} if own is not None else {}
        else:
            given = call.args[0] if call.args else call.keywords[0].value
            origins = dict.fromkeys(_Origins(facts).of(names, given, 0, False))
        if origins:
            gradients = sorted(dict.fromkeys(gradient for gradient, _ in origins), key=_place)
            changed = any(changed for _, changed in origins)
            found.append(Applied(names, call, receiver, tuple(gradients), changed))
    return tuple(found)


@once
def hand_updates(facts: Facts) -> tuple[tuple[Names, ast.Call], ...]:
    """`variable.assign_sub(rate * gradient)`: steps without an optimizer."""
    known = {gradient.node for step in applied_gradients(facts) for gradient in step.gradients}
    found = []
    for method in ASSIGNS:
        for names, call, variable in facts.methods(method):
            if names in tensorflow_files(facts) and call.args:
                taken = [gradient for gradient, _ in _Origins(facts).of(names, call.args[0], 0, False)]
                own = any(_is_source(facts, names, variable, gradient) for gradient in taken)
                if own and not known & {gradient.node for gradient in taken}:
                    found.append((names, call))
    return tuple(found)


def _is_source(facts: Facts, names: Names, variable: ast.expr, gradient: Gradient) -> bool:
    """Whether a variable is one of those that a gradient is taken by."""
    over = held_in(names, variable)
    if isinstance(over, ast.Attribute) and over.attr in words.VARIABLES:
        return True
    sources = [gradient.sources, *getattr(gradient.sources, "elts", ())]
    given = frozenset[Value]().union(*(facts.flow.values(gradient.names, source) for source in sources))
    return bool(facts.flow.values(names, over) & {value for value in given if not value.unknown})


def _steps(facts: Facts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """Calls that may be an optimizer's step."""
    for method in ("apply_gradients", "apply", "minimize"):
        for names, call, receiver in facts.methods(method):
            if names not in tensorflow_files(facts) or not (call.args or call.keywords):
                continue
            # Others have an apply(), too: what clips gradients, a pipeline, a state of another library.
            if method != "apply" or is_optimizer(facts, names, receiver):
                yield names, call, receiver


def _place(gradient: Gradient) -> tuple[str, int, int]:
    return str(gradient.names.source.path), gradient.node.lineno, gradient.node.col_offset


class _Origins:
    """One search for the gradients that an expression is computed from; each expression is asked once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._seen: set[tuple[ast.AST, bool]] = set()

    def of(self, names: Names, node: ast.AST, steps: int, changed: bool) -> Iterator[Origin]:
        """Calls that computed the gradients, and whether more than zip happened to them since."""
        if steps > MAX_STEPS or (node, changed) in self._seen:
            return
        self._seen.add((node, changed))
        changed = changed or isinstance(node, ast.BinOp)
        for part in ast.walk(node):
            if not isinstance(part, (ast.Name, ast.Attribute, ast.Call)) or not _is_read(part):
                continue
            direct = gradient_of(self._facts, names, part) if isinstance(part, ast.Call) else None
            if direct is not None:
                yield direct, changed
                continue
            yield from self._part(names, node, part, steps, changed)

    def _part(
        self, names: Names, node: ast.AST, part: ast.expr, steps: int, changed: bool
    ) -> Iterator[Origin]:
        for value in self._facts.flow.values(names, part):
            call = value.node
            direct = gradient_of(self._facts, value.names, call) if isinstance(call, ast.Call) else None
            if direct is not None:
                yield direct, changed
            elif call is not part and call is not node and isinstance(call, _HOLDERS):
                if value.kind in ("made", "literal") and _may_hold(value.name):
                    more = changed or not _only_zips(call)
                    yield from self.of(value.names, call, steps + 1, more)
        if isinstance(part, ast.Name):
            yield from self._bound(names, part, steps, changed)
        if not isinstance(part, ast.Call):
            yield from self._added(names, part, steps)

    def _bound(self, names: Names, part: ast.Name, steps: int, changed: bool) -> Iterator[Origin]:
        """What is computed, or run over, and so is no value that is followed."""
        for binding in names.bindings(part.id, part):
            over = iterated(binding) if binding.kind == "each" else None
            if over is not None:
                yield from self.of(names, over, steps + 1, changed)
            elif binding.kind == "assign" and isinstance(binding.value, _COMPUTED):
                yield from self.of(names, binding.value, steps + 1, changed)

    def _added(self, names: Names, part: ast.expr, steps: int) -> Iterator[Origin]:
        """What is added up in a list, or in the variables of one."""
        held = container(self._facts, names, part)
        for addition in additions(self._facts):
            if any(not value.unknown for value in addition.into & held):
                yield from self.of(addition.names, addition.part, steps + 1, True)


_COMPUTED = (ast.BinOp, ast.Subscript, ast.IfExp)
_HOLDERS = (ast.Call, ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple)


def _is_read(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) or isinstance(getattr(node, "ctx", None), ast.Load)


def _may_hold(name: str) -> bool:
    return not name.startswith(("keras.", "numpy.", words.DATASETS))


def _only_zips(node: ast.AST) -> bool:
    return isinstance(node, (ast.List, ast.Tuple)) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("zip", "list")
    )
