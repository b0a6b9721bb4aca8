"""What a rank computes of its own samples, or reads from its own clock: another number on each rank."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import Names

# Methods of tensors that give numbers; a function of a library that has such a name has a qualified one.
OF_TENSORS = frozenset(("item", "mean", "sum", "norm", "detach", "cpu", "numpy", "tolist"))
CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "datetime.datetime.now")
MODULES = ("torch.nn.", "torchvision.models.")


def of_own_numbers(facts: Facts, names: Names, expression: ast.expr) -> bool:
    """Whether an expression comes from losses, metrics or the clock, by values or by the tests above them."""
    return _computed(facts).holds(names, expression)


@once
def _computed(facts: Facts) -> _Computed:
    """One search for all questions: what it knows is not looked for again."""
    return _Computed(facts)


class _Computed(Dependence):
    """Numbers that are computed, or drawn from a loader: another on each rank once the data is divided."""

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if not isinstance(part, ast.Call):
            return None
        if is_computed(self.facts, names, part):
            return True
        return False if getattr(part.func, "id", "") == "len" else None

    def over(self, names: Names, iterated: ast.expr) -> bool | None:
        return True if training_loops(self.facts).loaders_in(names, iterated) else None


def is_computed(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is one of a model or a loss, gives a tensor's number, or the time."""
    qualified = names.qualified(call.func)
    if set(qualified) & set(CLOCKS):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in OF_TENSORS and not qualified:
        return True
    for value in facts.flow.values(names, call.func):
        if value.kind == "made" and value.name.startswith(MODULES):
            return True
        if value.kind == "object" and any(base.startswith("torch.nn.") for base in facts.flow.bases(value)):
            return True
    return False
