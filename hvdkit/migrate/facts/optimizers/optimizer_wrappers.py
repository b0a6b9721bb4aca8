"""Objects that are put around an optimizer and step it: apex LARC, Lookahead, and the project's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.gradient_readers import reads_gradients
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class OptimizerWrapper:
    """One construction of such an object.

    inner: the argument that is the optimizer, one of `optimizers`. looks: whether its step() looks at the
    gradients before the inner one steps, or may. copies: whether the inner one may step copies of the model's
    parameters: Horovod's hooks are on those that it is given.
    """

    names: Names
    node: ast.Call
    inner: ast.expr
    optimizers: frozenset[Value]
    looks: bool
    copies: bool


@once
def optimizer_wrappers(facts: Facts) -> list[OptimizerWrapper]:
    """Every object of these kinds around an optimizer that the project constructs."""
    return list(_optimizer_wrappers(facts))


def _optimizer_wrappers(facts: Facts) -> Iterator[OptimizerWrapper]:
    libraries = (*words.GRADIENT_WRAPPERS, *words.WEIGHT_WRAPPERS, *words.OTHER_OPTIMIZER_WRAPPERS)
    for site in facts.calls(*libraries):
        looks = site.name not in words.WEIGHT_WRAPPERS
        copies = site.name in words.OTHER_OPTIMIZER_WRAPPERS
        yield from _given(facts, site.names, site.node, looks, copies)
    for names in facts.files:
        for call in names.class_calls:
            if call.args or call.keywords:
                own = [v for v in facts.flow.values(names, call.func) if _of_own_kind(facts, v)]
                if own:
                    yield from _given(facts, names, call, True, any(_copies(value) for value in own))


def _given(
    facts: Facts, names: Names, call: ast.Call, looks: bool, copies: bool
) -> Iterator[OptimizerWrapper]:
    """The argument of a construction that is an optimizer."""
    known = {optimizer.value for optimizer in averaging_optimizers(facts)}
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        mine = facts.flow.unwrap(facts.flow.values(names, argument)) & known
        if mine:
            yield OptimizerWrapper(names, call, argument, mine, looks, copies)


def _of_own_kind(facts: Facts, value: Value) -> bool:
    """Whether a class of the project has a step() that looks at gradients, and is no trainer of its own."""
    steps = facts.flow.methods(value, "step") if value.kind == "class" else []
    if not steps or (_makes_gradients(value) and not _copies(value)):
        return False
    return any(reads_gradients(facts, where, method) for where, method in steps)


def _makes_gradients(value: Value) -> bool:
    """Whether a class runs backward passes: `def step(self, batch): ...; loss.backward(); ...`."""
    return any(
        value.node in value.names.ancestors(node) for node in value.names.attributes.get("backward", ())
    )


def _copies(value: Value) -> bool:
    """Whether a class gives the optimizer other parameters than those of the model."""
    for part in value.names.walk(value.node):
        if getattr(part, "attr", getattr(part, "id", "")) == "Parameter":
            return True
        into: ast.AST = part if isinstance(getattr(part, "ctx", None), ast.Store) else value.node
        while isinstance(into, ast.Subscript):  # `group["params"] = ...`, `group["params"][i] = ...`
            if isinstance(into.slice, ast.Constant) and into.slice.value == "params":
                return True
            into = into.value
    return False
