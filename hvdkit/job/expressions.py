"""What each expression of Python gives."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Callable

from hvdkit.job.arguments import Arguments
from hvdkit.job.attributes import attribute
from hvdkit.job.columns import RANKS, Value, columns, lift
from hvdkit.job.computed import apply
from hvdkit.job.containers import (
    ITEMS,
    KEYS,
    content,
    elements,
    get_item,
    held,
    make_list,
    make_tuple,
    new,
    set_item,
)
from hvdkit.job.loops import comprehend, run_over
from hvdkit.job.machine import Machine
from hvdkit.job.names import assign, lookup
from hvdkit.job.operators import binary, compared, formatted, is_small, unary
from hvdkit.job.processes import ENVIRONMENT, has_variable, variable
from hvdkit.job.record import Unbound
from hvdkit.job.special import COMPARES, run_special, text_of, truth_of
from hvdkit.job.terms import Term


def _constant(machine: Machine, node: ast.Constant) -> Value:
    return machine.terms.const(node.value)


def _name(machine: Machine, node: ast.Name) -> Value:
    value = lookup(machine, node.id)
    if value is machine.terms.make("undefined", node.id):
        machine.record.unbound.append(Unbound(machine.place(node), node.id, machine.active))
    return value


def _attribute(machine: Machine, node: ast.Attribute) -> Value:
    holder = machine.evaluate(node.value)
    return machine.each(holder, lambda term: attribute(machine, term, node.attr, node))


def _call(machine: Machine, node: ast.Call) -> Value:
    callee = machine.evaluate(node.func)
    positional, named, more = [], {}, False
    for argument in node.args:
        value = machine.evaluate(argument.value if isinstance(argument, ast.Starred) else argument)
        if not isinstance(argument, ast.Starred):
            positional.append(value)
        elif (inside := elements(machine, value)) is not None:
            positional += [item for item, _ in inside]
        else:
            more = True
    for word in node.keywords:
        value = machine.evaluate(word.value)
        if word.arg is not None:
            named[word.arg] = value
        else:
            more = not _spread(machine, value, named) or more
    given = Arguments(positional, named, more, node.args)
    machine.come(node)
    return machine.call(callee, given, node)


def _spread(machine: Machine, value: Value, named: dict[str, Value]) -> bool:
    """Add what `**value` gives; whether all of it is known."""
    keys = machine.read((value, KEYS)) if isinstance(value, Term) and value.kind == "dict" else None
    if not isinstance(keys, Term) or keys.kind != "tuple":
        return isinstance(value, Term) and value.kind == "dict" and keys is None
    for key in keys.inner:
        if key.kind == "const" and isinstance(key.parts[0], str):
            named[key.parts[0]] = machine.read((value, key)) or machine.terms.unset
    return True


def _binary(machine: Machine, node: ast.BinOp) -> Value:
    one, two = machine.evaluate(node.left), machine.evaluate(node.right)
    kind = type(node.op)
    if kind is ast.Add and isinstance(one, Term) and one.kind == "list":
        both = lift(lambda a, b: binary(machine.terms, kind, a, b), content(machine, one), held(machine, two))
        made = new(machine, "list", node)
        machine.write((made, ITEMS), both)
        return made
    return operate(machine, node, kind, one, two)


def operate(machine: Machine, node: ast.AST, kind: type, one: Value, two: Value) -> Value:
    """`one + two` and the like; `one += two`, too."""
    value = lift(lambda a, b: binary(machine.terms, kind, a, b), one, two)
    if kind is ast.FloorDiv and _is_lost(value):
        machine.record.zeros.append(machine.place(node))
    return value


def _is_lost(value: Value) -> bool:
    """Whether a size of 1 in one process is 0 on each of several ranks."""
    terms = columns(value)
    if any(term.kind != "const" for term in terms):
        return False
    return terms[0].parts[0] == 1 and not any(terms[rank].parts[0] for rank in RANKS)


def _unary(machine: Machine, node: ast.UnaryOp) -> Value:
    value = machine.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return lift(machine.terms.negated, machine.condition(truth_of(machine, value, node)))
    return lift(lambda term: unary(machine.terms, type(node.op), term), value)


def _compare(machine: Machine, node: ast.Compare) -> Value:
    left = machine.evaluate(node.left)
    result: Value = machine.terms.true
    for operator, expression in zip(node.ops, node.comparators):
        right = machine.evaluate(expression)
        kind = type(operator)
        if kind in (ast.In, ast.NotIn) and _is_environment(right):
            there = has_variable(machine, left)
            found = there if kind is ast.In else lift(machine.terms.negated, there)
            result = lift(machine.terms.both, result, found)
            continue
        found = _compared(machine, node, kind, left, right)
        result = lift(machine.terms.both, result, found)
        left = right
    return result


def _compared(machine: Machine, node: ast.Compare, kind: type, left: Value, right: Value) -> Value:
    """One comparison: by a method of the program's, where the left side is an object that has one."""
    if isinstance(left, Term) and kind in COMPARES:
        found = run_special(machine, left, (COMPARES[kind],), (right,), node)
        if found is not None:
            return machine.condition(found)
    if isinstance(right, Term) and kind in (ast.In, ast.NotIn):
        found = run_special(machine, right, ("__contains__",), (left,), node)
        if found is not None:
            inside = machine.condition(found)
            return inside if kind is ast.In else lift(machine.terms.negated, inside)
    if isinstance(left, Term) and isinstance(right, Term) and left.kind == right.kind == "list":
        left = held(machine, left)
    inside = right if kind in (ast.Is, ast.IsNot) else held(machine, right)
    return lift(lambda a, b: compared(machine.terms, kind, a, b), left, inside)


def _bool(machine: Machine, node: ast.BoolOp) -> Value:
    """`a and b`, `a or b`: what is behind runs only where what is in front does not decide."""
    return _decided(machine, isinstance(node.op, ast.And), node.values)


def _decided(machine: Machine, is_and: bool, parts: list[ast.expr]) -> Value:
    first = machine.evaluate(parts[0])
    if len(parts) == 1:
        return first

    def rest() -> Value:
        machine.come(parts[1])
        return _decided(machine, is_and, parts[1:])

    test = truth_of(machine, first, parts[0])
    if is_and:
        return machine.choose(test, rest, lambda: first, parts[0])
    return machine.choose(test, lambda: first, rest, parts[0])


def _conditional(machine: Machine, node: ast.IfExp) -> Value:
    test = truth_of(machine, machine.evaluate(node.test), node.test)
    return machine.choose(
        test, lambda: _chosen(machine, node.body), lambda: _chosen(machine, node.orelse), node.test
    )


def _chosen(machine: Machine, node: ast.expr) -> Value:
    machine.come(node)
    return machine.evaluate(node)


def _items(machine: Machine, nodes: list[ast.expr]) -> list[Value] | None:
    """The elements of a display, or None where one of them is unpacked that is not known."""
    found: list[Value] = []
    known = True
    for node in nodes:
        value = machine.evaluate(node.value if isinstance(node, ast.Starred) else node)
        if not isinstance(node, ast.Starred):
            found.append(value)
        elif (inside := elements(machine, value)) is not None:
            found += [item for item, _ in inside]
        else:
            known = False
    return found if known else None


def _tuple(machine: Machine, node: ast.Tuple) -> Value:
    items = _items(machine, node.elts)
    return machine.site("unknown", node) if items is None else make_tuple(machine, items)


def _list(machine: Machine, node: ast.List) -> Value:
    items = _items(machine, node.elts)
    return machine.site("unknown", node) if items is None else make_list(machine, node, items)


def _set(machine: Machine, node: ast.Set) -> Value:
    items = _items(machine, node.elts)
    if items is None:
        return machine.site("unknown", node)
    made = new(machine, "set", node)
    machine.write((made, ITEMS), make_tuple(machine, items))
    return made


def _dict(machine: Machine, node: ast.Dict) -> Value:
    made = new(machine, "dict", node)
    machine.write((made, KEYS), machine.terms.make("tuple"))
    for key, value in zip(node.keys, node.values):
        if key is not None:
            set_item(machine, made, machine.evaluate(key), machine.evaluate(value))
            continue
        more = machine.evaluate(value)
        keys = elements(machine, more) if isinstance(more, Term) and more.kind == "dict" else None
        if keys is None:
            machine.write((made, KEYS), machine.site("unknown", node))
            continue
        for each, _ in keys:
            set_item(machine, made, each, get_item(machine, more, each))  # type: ignore[arg-type]
    return made


def _lambda(machine: Machine, node: ast.Lambda) -> Value:
    return machine.terms.make("function", node, machine.frame, machine.terms.make("tuple"))


def _subscript(machine: Machine, node: ast.Subscript) -> Value:
    holder, key = machine.evaluate(node.value), machine.evaluate(node.slice)
    if _is_environment(holder):
        machine.risks += 1  # where there is no job
        return variable(machine, key, None)

    def of(term: Term) -> Value:
        own = run_special(machine, term, ("__getitem__",), (key,), node)
        return get_item(machine, term, key) if own is None else own

    return machine.each(holder, of)


def _is_environment(value: Value) -> bool:
    return isinstance(value, Term) and value.kind == "library" and value.parts[0] == ENVIRONMENT


def _slice(machine: Machine, node: ast.Slice) -> Value:
    none = machine.terms.none
    bounds = [machine.evaluate(part) if part else none for part in (node.lower, node.upper, node.step)]
    return lift(lambda *parts: machine.terms.make("slice", *parts), *bounds)


def _text(machine: Machine, node: ast.JoinedStr) -> Value:
    parts = [machine.evaluate(part) for part in node.values]

    def of(*terms: Term) -> Term:
        if all(term.kind == "const" for term in terms):
            text = "".join(str(term.parts[0]) for term in terms)
            if is_small(text):
                return machine.terms.const(text)
        return machine.terms.make("text", *terms)

    return lift(of, *parts) if parts else machine.terms.const("")


def _formatted(machine: Machine, node: ast.FormattedValue) -> Value:
    value = text_of(machine, machine.evaluate(node.value), node)
    if node.format_spec is None:
        return value
    spec = machine.evaluate(node.format_spec)

    def of(*terms: Term) -> Term:
        return apply(machine, formatted, *terms) or machine.terms.make("formatted", node, *terms)

    return lift(of, value, spec)


def _named(machine: Machine, node: ast.NamedExpr) -> Value:
    value = machine.evaluate(node.value)
    assign(machine, node.target, value)
    return value


def _starred(machine: Machine, node: ast.Starred) -> Value:
    return machine.evaluate(node.value)


def _await(machine: Machine, node: ast.Await) -> Value:
    return machine.evaluate(node.value)


def _yield(machine: Machine, node: ast.Yield) -> Value:
    value = machine.evaluate(node.value) if node.value else machine.terms.none
    if machine.frame.receive is not None:
        machine.frame.receive(value)
    return machine.site("sent in", node)


def _yield_from(machine: Machine, node: ast.YieldFrom) -> Value:
    value = machine.evaluate(node.value)
    if machine.frame.receive is not None:
        run_over(machine, node, value, machine.frame.receive)
    return machine.site("sent in", node)


EXPRESSIONS: Mapping[type, Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Lambda: _lambda,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _text,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.ListComp: comprehend,
    ast.SetComp: comprehend,
    ast.DictComp: comprehend,
    ast.GeneratorExp: comprehend,
}
