"""Which collectives of torch.distributed are written with Horovod, and what keeps the others as they are.

HVD501 and HVD503 carry it out. Gradients that a program averages itself can only stay as they
are where their collectives are written: HVD904 refuses the others.
"""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import (
    Collective,
    collectives,
    passes_reduction,
    reduction,
)
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.plan import Made, Obstacle
from hvdkit.migrate.rewrites.collectives import reduced, reduced_copy, same_again
from hvdkit.migrate.rewrites.gathers import INTO, gathered
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names

NO_REDUCTION = "Horovod has no such reduction, or it is chosen where it cannot be followed"
NARROW = "Horovod cannot reduce a tensor of bytes, 16-bit integers or Booleans, and this may be one"
NEEDED = {"all_gather": {"tensor_list", "tensor"}, "gather": {"tensor"}}


KINDS = ("bool", "int8", "int16", "uint8")
_TYPES = tuple(
    f"torch.{place}{kind}Tensor" for place in ("", "cuda.") for kind in ("Bool", "Byte", "Char", "Short")
)
_KEEPS = ("clone", "contiguous", "cpu", "cuda", "fill_", "pin_memory", "zero_")
_CASTS = ("bool", "byte", "char", "short")


def is_narrow(facts: Facts, names: Names, tensor: ast.expr) -> bool | None:
    """Whether a tensor is such a one; None where some of what it may be is, and some is not known to be."""
    values = facts.flow.values(names, tensor)
    found = [_made_narrow(value.names, value.node) for value in values]
    if not any(found):
        return False
    return True if all(found) else None


def _made_narrow(names: Names, call: ast.AST) -> bool:
    """Whether a value is made by `torch.ByteTensor(n)`, `torch.zeros(n, dtype=torch.uint8)`, `x.byte()`."""
    if not isinstance(call, ast.Call):
        return False
    if any(name in _TYPES for name in names.qualified(call.func)):
        return True
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in _CASTS and not call.args:
        return True
    if method in _KEEPS and isinstance(call.func, ast.Attribute):
        return _made_narrow(names, call.func.value)
    kinds = [keyword(call, "dtype"), *(call.args[:1] if method in ("to", "type") else ())]
    wanted = {f"torch.{kind}" for kind in KINDS}
    return any(kind is not None and bool(wanted & set(names.qualified(kind))) for kind in kinds)


@dataclass(frozen=True)
class Decision:
    """What becomes of a collective. made: what came of writing it with Horovod, where no problem was seen.

    operation: its reduction, "" where it has none or passes it on. narrow: whether it reduces integers of few
    bytes, or may (None).
    """

    call: Collective
    problem: str = ""
    made: Made = ()
    operation: str = ""
    narrow: bool | None = False

    @property
    def left(self) -> str:
        """Why the call stays as it is; "" where it is written with Horovod."""
        return self.made.reason if isinstance(self.made, Obstacle) else self.problem


@once
def all_reduces(facts: Facts) -> list[Decision]:
    """What becomes of each all_reduce, and of each reduce to one rank."""
    return [_all_reduce(facts, call) for call in collectives(facts, "all_reduce", "reduce")]


@once
def gathers(facts: Facts) -> list[Decision]:
    """What becomes of each gather of tensors."""
    return [_gather(facts, call) for call in collectives(facts, "all_gather", "gather", *INTO)]


@once
def written(facts: Facts) -> dict[ast.Call, Decision]:
    """The calls for which something was decided; all others stay as they are."""
    return {decision.call.node: decision for decision in (*all_reduces(facts), *gathers(facts))}


def _all_reduce(facts: Facts, call: Collective) -> Decision:
    operation, problem = _operation(facts, call)
    if problem or "tensor" not in call.given:
        return Decision(call, problem or "its tensor was not found")
    narrow = is_narrow(facts, call.names, call.given["tensor"])
    if narrow is False:
        return Decision(call, "", edits.attempt(reduced, facts, call, operation), operation or "")
    plain = narrow and same_again(call.given["tensor"]) and call.waits is None
    if not plain or operation not in ("Sum", "Max", "Min"):
        return Decision(call, NARROW, (), operation or "", narrow)
    return Decision(call, "", edits.attempt(reduced_copy, facts, call, operation), operation, narrow)


def _operation(facts: Facts, call: Collective) -> tuple[str | None, str]:
    """A reduction by Horovod's name, None where it is passed on, and what is wrong with the call."""
    asked = call.given.get("op")
    operation = reduction(facts, call.names, asked)
    unknown = operation is None and (asked is None or not passes_reduction(facts, call.names, asked))
    return operation, call.problem or (NO_REDUCTION if unknown else "")


def _gather(facts: Facts, call: Collective) -> Decision:
    needed = NEEDED.get(call.function, {"output_tensor", "input_tensor"})
    problem = call.problem or ("" if needed <= set(call.given) else "its arguments were not understood")
    return Decision(call, problem, () if problem else edits.attempt(gathered, facts, call))
