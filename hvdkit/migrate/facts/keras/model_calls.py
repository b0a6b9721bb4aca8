"""Keras models, where they are compiled and fitted, and what their calls are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import passed, unpacks
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FunctionNode, Names


@dataclass(frozen=True)
class ModelCall:
    """`model.fit(...)` and its like. order: the names of the positional arguments."""

    names: Names
    node: ast.Call
    model: ast.expr
    method: str
    order: tuple[str, ...]

    @property
    def spread(self) -> bool:
        """Whether arguments come from * or **, and so cannot be told."""
        return unpacks(self.node)

    def argument(self, name: str) -> ast.expr | None:
        """What is passed for a parameter, by position or keyword."""
        for keyword in self.node.keywords:
            if keyword.arg == name or (name == "x" and keyword.arg == "generator"):
                return keyword.value
        position = self.order.index(name) if name in self.order else len(self.node.args)
        return self.node.args[position] if position < len(self.node.args) else None


METHODS = {
    "fit": words.FIT,
    "fit_generator": words.FIT_GENERATOR,
    "evaluate": words.EVALUATE,
    "predict": words.PREDICT,
    "train_on_batch": ("x", "y"),
    "compile": ("optimizer", "loss", "metrics"),
}


@once
def keras_calls(facts: Facts) -> tuple[ModelCall, ...]:
    """Calls of Keras models' methods. A model is what a Keras class made, or what is compiled like one."""
    files = tensorflow_files(facts)
    compiled = {value for _, _, receiver, values in _compiles(facts, files) for value in values}
    found = []
    for method, order in METHODS.items():
        for names, call, receiver in facts.methods(method):
            if names not in files:
                continue
            values = facts.flow.values(names, receiver)
            if method != "compile" and _is_own(facts, receiver, values, method):
                continue
            if values & compiled or any(is_model(facts, value) for value in values):
                found.append(ModelCall(names, call, receiver, method, order))
    return tuple(sorted(found, key=lambda c: (str(c.names.source.path), c.node.lineno, c.node.col_offset)))


def _is_own(facts: Facts, receiver: ast.expr, values: frozenset[Value], method: str) -> bool:
    """Whether the project's own class has the method that is called, and Keras's is not run by this call."""
    parent = isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super"
    objects = [value for value in values if value.kind == "object"]
    return not parent and bool(objects) and all(facts.flow.methods(value, method) for value in objects)


def _compiles(
    facts: Facts, files: Sequence[Names]
) -> Iterator[tuple[Names, ast.Call, ast.expr, frozenset[Value]]]:
    for names, call, receiver in facts.methods("compile"):
        given = {keyword.arg for keyword in call.keywords}
        if names in files and given & set(words.COMPILE):
            values = facts.flow.values(names, receiver)
            yield names, call, receiver, frozenset(v for v in values if v.kind in ("made", "object", "param"))


def is_model(facts: Facts, value: Value) -> bool:
    """Whether a value is a Keras model by its class."""
    if value.kind == "made":
        return value.name.startswith(words.MODELS)
    return value.kind == "object" and bool(words.BASES & facts.flow.bases(value))


def custom_step(facts: Facts, call: ModelCall) -> bool:
    """Whether the model of a call has a train_step of the project's own."""
    return any(
        value.kind == "object" and facts.flow.methods(value, "train_step")
        for value in facts.flow.values(call.names, call.model)
    )


@once
def keras_models(facts: Facts) -> frozenset[Value]:
    """What is fitted, compiled or trained by a tape."""
    found: set[Value] = set()
    for call in keras_calls(facts):
        found |= facts.flow.values(call.names, call.model)
    return frozenset(found)


def given_optimizer(facts: Facts, call: ModelCall) -> ast.expr | None:
    """The optimizer that compile is given, in the place that a compile of the project's own has for it."""
    own = _own_compile(facts, call)
    if not own:
        return call.argument("optimizer")
    return passed(*own[0], call.names, call.node, "optimizer")


def takes_default(facts: Facts, call: ModelCall) -> bool:
    """Whether compile without an optimizer takes Keras's own default: no class between chooses another."""
    values = facts.flow.values(call.names, call.model)
    return bool(values) and not _own_compile(facts, call) and all(_is_plain(facts, v) for v in values)


def _own_compile(facts: Facts, call: ModelCall) -> list[tuple[Names, FunctionNode]]:
    values = facts.flow.values(call.names, call.model)
    return [own for value in values if value.kind == "object" for own in facts.flow.methods(value, "compile")]


def _is_plain(facts: Facts, value: Value) -> bool:
    if value.kind == "made":
        return value.name.startswith(words.PLAIN_MODELS)
    bases = facts.flow.bases(value)
    return value.kind == "object" and bool(bases) and bases <= words.BASES
