"""What a flag is set to, one step back, and which of several definitions overwrites which.

launch.py's origins are everything that a value may come from, in no order.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Union

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.code.own_dicts import constructed_with
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import Launch
from hvdkit.migrate.values.arguments import default, keyword, passed
from hvdkit.source.index.names import ANY_KEY, FUNCTIONS, Binding, FunctionNode, Names

MAX_CALLERS = 4
Function = tuple[Names, Union[FunctionNode, None]]


@dataclass(frozen=True)
class Definition:
    """One thing that a variable, an attribute or what a function returns may be.

    value: None for an option, and where it cannot be followed. at: the code that has to run for it; None for
    what is there from the start, such as an option. replaces: whether it overwrites what was there.
    """

    names: Names
    value: ast.expr | None
    option: Option | None = None
    at: tuple[Names, ast.AST] | None = None
    replaces: bool = False


def definitions(facts: Facts, launch: Launch, names: Names, node: ast.expr) -> Iterator[Definition]:
    """The definitions of a name, an attribute, or a call of a project function; empty where none is known."""
    if isinstance(node, ast.Name):
        for binding in names.bindings(node.id, node):
            yield from _bound(facts, launch, names, binding)
    elif isinstance(node, ast.Attribute):
        for value in facts.flow.values(names, node.value):
            if value.kind == "module":
                for binding in value.names.module.names.get(node.attr, ()):
                    yield from _bound(facts, launch, value.names, binding)
        for where, binding in facts.flow.stored(names, node):
            yield from _bound(facts, launch, where, binding)
        for option in launch.options.of(names, node.value, node.attr):
            yield Definition(option.names, None, option)
        for where, given in constructed_with(facts, names, node):
            yield Definition(where, given)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        yield from _held(facts, launch, names, node.value, str(node.slice.value))
    elif isinstance(node, ast.Call):
        for where, function in facts.flow.functions(names, node):
            for result in where.returns.get(function, ()):
                yield Definition(where, result, at=(where, result))


def _bound(facts: Facts, launch: Launch, names: Names, binding: Binding) -> Iterator[Definition]:
    at = (names, binding.node)
    if binding.kind == "assign" and binding.value is not None:
        parts = list(launch.elements(names, binding.value, binding.path))
        for where, value in parts:
            yield Definition(where, value, at=at, replaces=True)
        if not parts:
            yield Definition(names, None, at=at, replaces=True)
    elif binding.kind == "param" and isinstance(binding.node, ast.arg):
        yield from _passed(facts, names, binding.node)
    elif binding.kind == "import":
        head, _, member = binding.qualified.rpartition(".")
        module = facts.project.module(head, names.source.path) if head.strip(".") else None
        for inner in module.module.names.get(member, ()) if module is not None else ():
            yield from _bound(facts, launch, module, inner)  # type: ignore[arg-type]
    else:
        yield Definition(names, None, at=at, replaces=True)


def _held(facts: Facts, launch: Launch, names: Names, holder: ast.expr, key: str) -> Iterator[Definition]:
    """What a dictionary that is written out holds under a key, and what is stored there later."""
    held = facts.flow.values(names, holder)
    for value in held:
        given = None
        if isinstance(value.node, ast.Dict):
            pairs = zip(value.node.keys, value.node.values)
            given = next((item for k, item in pairs if isinstance(k, ast.Constant) and k.value == key), None)
        elif isinstance(value.node, ast.Call) and getattr(value.node.func, "id", "") == "dict":
            given = keyword(value.node, key)
        yield Definition(value.names, given, at=(value.names, value.node))
    for where, binding in facts.flow.stored_under(f"[{key!r}]", held):
        yield from _bound(facts, launch, where, binding)
    for where, binding in facts.flow.stored_under(f"[{ANY_KEY!r}]", held):
        for each in _bound(facts, launch, where, binding):
            yield replace(each, replaces=False)


def _passed(facts: Facts, names: Names, arg: ast.arg) -> Iterator[Definition]:
    function = names.parents[names.parents[arg]]
    if not isinstance(function, FUNCTIONS):
        return
    for where, call in facts.flow.call_sites(names, function):
        given = passed(names, function, where, call, arg.arg)
        if given is not None:
            yield Definition(where, given, at=(where, call))
        else:
            unpacked = any(item.arg is None for item in call.keywords)
            yield Definition(names, None if unpacked else default(function, arg), at=(where, call))


def is_replaced(facts: Facts, first: Definition, last: Definition) -> bool:
    """Whether a definition stands before another that replaces it."""
    if first.at is None:
        return True
    if last.at is None:
        return False
    left, right = _lines(facts, *first.at), _lines(facts, *last.at)
    apart = [key for key in left if key in right and left[key] != right[key]]
    if apart:
        return all(max(left[key]) < min(right[key]) for key in apart)
    return _on_import(*first.at) and last.at[0].function(last.at[1]) is not None


def _on_import(names: Names, node: ast.AST) -> bool:
    """Whether code runs while its file is imported, before the functions that are there do."""
    guard = main_guard(names)
    return names.function(node) is None and (guard is None or guard not in names.ancestors(node))


def _lines(facts: Facts, names: Names, node: ast.AST) -> dict[Function, set[int]]:
    """Where code stands in its function, and in those that call it: the lines of the calls."""
    found: dict[Function, set[int]] = defaultdict(set)
    waiting = [(names, node, 0)]
    while waiting:
        where, place, depth = waiting.pop()
        function = where.function(place)
        found[where, function].add(getattr(place, "lineno", 0))
        if function is not None and depth < MAX_CALLERS:
            waiting += [(*site, depth + 1) for site in facts.flow.call_sites(where, function)]
    return found
