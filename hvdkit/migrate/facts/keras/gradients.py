"""The calls that compute gradients in TensorFlow: of a tape, or of an optimizer that has one inside."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.keras_optimizers import is_optimizer
from hvdkit.migrate.values.arguments import given, keyword, unpacks
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.source.index.names import Names

# Methods of Keras 2's optimizers: (loss, var_list, tape=None). The loss is a function where there is no tape.
BY_OPTIMIZERS = ("minimize", "compute_gradients")


@dataclass(frozen=True)
class Gradient:
    """`tape.gradient(target, sources)`, or `optimizer.minimize(target, sources, tape=tape)`.

    tape: None where the optimizer makes one itself.
    """

    names: Names
    node: ast.Call
    tape: ast.expr | None
    target: ast.expr | None
    sources: ast.expr | None


def gradient_of(facts: Facts, names: Names, call: ast.Call) -> Gradient | None:
    """What a call computes gradients of; None where it computes none."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None
    if function.attr == "gradient":
        if facts.flow.made(names, function.value) & {words.TAPE, *words.TAPES}:
            return Gradient(names, call, function.value, given(call, 0, "target"), given(call, 1, "sources"))
        return None
    if function.attr in BY_OPTIMIZERS and is_optimizer(facts, names, function.value):
        tape = keyword(call, "tape")
        if len(call.args) > 2 or unpacks(call):
            return None  # Keras 2's newer optimizers take the tape third, its older ones grad_loss
        tape = None if isinstance(tape, ast.Constant) else tape
        return Gradient(names, call, tape, given(call, 0, "loss"), given(call, 1, "var_list"))
    return None


def is_distributed(facts: Facts, gradient: Gradient) -> bool:
    """Whether Horovod reduces these gradients: its tape took them.

    A name is what it was bound to last: a function that trains two models calls both of its tapes `tape`.
    """
    names, tape = gradient.names, gradient.tape
    if tape is None:
        return False
    last = last_binding(names, tape) if isinstance(tape, ast.Name) else None
    values = facts.flow.values(names, tape) if last is None else facts.flow.bound(names, last)
    return any(value.kind == "made" and value.name in words.TAPES for value in values)
