"""The loops over batches that run the training steps of TensorFlow programs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Union

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import Applied
from hvdkit.migrate.facts.keras.mentions import tensorflow_callers
from hvdkit.migrate.facts.keras.model_calls import ModelCall
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

MAX_CALLERS = 8
# What a script calls for each batch: an optimizer's step, or model.train_on_batch(...).
Step = Union[Applied, ModelCall]


@dataclass(frozen=True)
class StepLoop:
    """The loop over batches around a training step.

    statement: what runs the step in the loop's body, or under an `if` there. step: what it runs.
    graph: whether the loop is inside a tf.function.
    """

    names: Names
    node: ast.For | ast.AsyncFor | ast.While
    statement: ast.stmt
    step: Step
    graph: bool


def step_loops(facts: Facts, steps: Sequence[Step]) -> tuple[StepLoop, ...]:
    """The innermost loops around every step, through callers."""
    found: list[StepLoop] = []
    for step in steps:
        for loop in _outward(facts, step, step.names, step.node, (), False):
            if loop not in found:
                found.append(loop)
    return tuple(found)


def _outward(
    facts: Facts, step: Step, names: Names, node: ast.AST, seen: tuple[ast.AST, ...], graph: bool
) -> Iterator[StepLoop]:
    child = node
    statement = names.statement(node)
    for parent in names.ancestors(node):
        if isinstance(parent, LOOPS) and child in parent.body:
            if _in_train_step(facts, names, parent):
                return
            inside = graph or _in_graph(facts, names, parent)
            yield StepLoop(names, parent, statement, step, inside)
            return
        if isinstance(parent, ast.stmt) and not isinstance(parent, ast.If):
            statement = parent
        if isinstance(parent, FUNCTIONS):
            if parent in seen or len(seen) >= MAX_CALLERS:
                return
            for where, call in tensorflow_callers(facts, names, parent):
                yield from _outward(facts, step, where, call, (*seen, parent), False)
            return
        child = parent


def _in_train_step(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node is in the train_step of a Keras model: fit has the loop over batches, outside of it."""
    function = names.function(node)
    owner = names.parents.get(function) if function is not None else None
    if getattr(function, "name", "") != "train_step" or not isinstance(owner, ast.ClassDef):
        return False
    return bool(words.BASES & facts.flow.bases(Value("class", owner.name, owner, names)))


def _in_graph(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node is traced: a function around it is decorated with tf.function."""
    for parent in names.ancestors(node):
        for decorator in getattr(parent, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if "tensorflow.function" in facts.flow.qualified(names, called):
                return True
    return False
