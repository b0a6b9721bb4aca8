"""Operators on terms: computed where both sides are constants, and else a term of them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Hashable
from typing import Any, Callable

from hvdkit.job.terms import Term, Terms


def power(one: Any, two: Any) -> Any:
    """`one ** two`, where that is a number of some length. Raises: OverflowError."""
    if isinstance(one, int) and isinstance(two, int) and one.bit_length() * two > LARGEST:
        raise OverflowError
    return one**two


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Pow: power,
    ast.LShift: lambda one, two: one * power(2, two),
    ast.RShift: operator.rshift,
}
COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda one, two: one is two if one is None or two is None else one == two,
    ast.IsNot: lambda one, two: one is not two if one is None or two is None else one != two,
    ast.In: lambda one, two: one in two,
    ast.NotIn: lambda one, two: one not in two,
}
OPPOSITE = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In, ast.GtE: ast.Lt, ast.LtE: ast.Gt}
NUMBERS = (bool, int, float)
LARGEST = 10_000  # characters, elements or bits of a value that is computed
FAILS = (TypeError, ValueError, ArithmeticError, LookupError)
# Of what a term of this kind is, None is never one.
SOMETHING = frozenset(
    ("object", "made", "list", "dict", "tuple", "function", "class", "bound", "module", "text", "partial")
)


def is_known(term: Term) -> bool:
    """Whether a term is a constant, or a tuple of constants."""
    if term.kind == "tuple":
        return all(part.kind == "const" for part in term.inner)
    return term.kind == "const" and term.parts[0] is not None


def plain(term: Term) -> Hashable:
    """The value of a constant, or of a tuple of them."""
    return term.parts[0] if term.kind == "const" else tuple(part.parts[0] for part in term.inner)


def is_short(*values: object) -> bool:
    """Whether no width and no count in these values makes a long text."""
    texts = [value for value in values if isinstance(value, str)]
    counts = [value for value in values if isinstance(value, int)]
    counts += [int(number) for text in texts for number in re.findall(r"[0-9]+", text)]
    return all(count <= LARGEST for count in counts)


def formatted(value: object, spec: str = "") -> str:
    """`format(value, spec)`. Raises: ValueError, where it would be long."""
    if not is_short(spec):
        raise ValueError(spec)
    return format(value, spec)


def _filled_in(text: str, values: object) -> str:
    """`text % values`."""
    if not is_short(text):
        raise ValueError(text)
    return text % values


def binary(terms: Terms, kind: type, one: Term, two: Term) -> Term:
    """`one + two` and the like."""
    if one.kind == "const" and two.kind == "const" and kind in BINARY:
        left, right = one.parts[0], two.parts[0]
        if (isinstance(left, NUMBERS) and isinstance(right, NUMBERS)) or (
            kind is ast.Add and isinstance(left, str) and isinstance(right, str)
        ):
            found = _computed(terms, BINARY[kind], left, right)
            if found is not None:
                return found
    if kind is ast.Mod and one.kind == "const" and isinstance(one.parts[0], str) and is_known(two):
        found = _computed(terms, _filled_in, one.parts[0], plain(two))
        if found is not None:
            return found
    if kind in (ast.BitAnd, ast.BitOr) and terms.is_condition(one) and terms.is_condition(two):
        if kind is ast.BitAnd:
            return terms.both(one, two)
        return terms.negated(terms.both(terms.negated(one), terms.negated(two)))
    if kind is ast.Add and one.kind == two.kind == "tuple" and len(one.parts) + len(two.parts) <= LARGEST:
        return terms.make("tuple", *one.parts, *two.parts)
    return terms.make("op", kind.__name__, one, two)


def compared(terms: Terms, kind: type, one: Term, two: Term) -> Term:
    """`one == two` and the like, as a condition."""
    if one.kind == "const" and two.kind == "const":
        found = _computed(terms, COMPARED[kind], one.parts[0], two.parts[0])
        if found is not None:
            return found
    if one.kind == two.kind == "tuple" and is_known(one) and is_known(two):
        found = _computed(terms, COMPARED[kind], plain(one), plain(two))
        if found is not None:
            return found
    if kind in OPPOSITE:
        return terms.negated(compared(terms, OPPOSITE[kind], one, two))
    if kind is ast.In and two.kind == "tuple" and one.kind == "const":
        if all(isinstance(part, Term) and part.kind == "const" for part in two.parts):
            return terms.truth(one in two.parts)
    if kind is ast.Is and terms.none in (one, two):
        other = two if one is terms.none else one
        if other.kind in SOMETHING:
            return terms.false
    if kind in (ast.Is, ast.Eq) and one is two and kind is ast.Is:
        return terms.true
    return terms.make("compare", kind.__name__, one, two)


def _computed(
    terms: Terms, function: Callable[[Any, Any], Any], left: Hashable, right: Hashable
) -> Term | None:
    try:
        found = function(left, right)
    except FAILS:
        return None
    return terms.const(found) if is_small(found) else None


def is_small(value: object) -> bool:
    """Whether a value is kept as it is: what doubles again and again is not."""
    if isinstance(value, int):
        return value.bit_length() <= LARGEST
    return not isinstance(value, str) or len(value) <= LARGEST


def unary(terms: Terms, kind: type, term: Term) -> Term:
    """`-x`, `+x`, `~x`."""
    if term.kind == "const" and isinstance(term.parts[0], NUMBERS):
        value = term.parts[0]
        if kind is ast.USub:
            return terms.const(-value)
        if kind is ast.UAdd:
            return terms.const(+value)
    return terms.make("op", kind.__name__, term)
