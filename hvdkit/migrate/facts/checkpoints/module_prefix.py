"""The prefix "module." in code: whether what names it or cuts it off is right where no name begins so."""

from __future__ import annotations

import ast

from hvdkit.job.run import constant_of
from hvdkit.migrate.facts.checkpoints.unwrapping import question
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import passed, positional
from hvdkit.source.index.names import COMPREHENSIONS, Names

PREFIX = "module."
BARE = "0.weight"  # a name without it


# Calls that take the prefix off where it is, and do nothing where it is not.
STRIPPING = ("replace", "removeprefix", "lstrip", "split", "sub", "consume_prefix_in_state_dict_if_present")


TESTS = ("startswith", "find", "index", "count")


def begins_so(text: ast.Constant) -> bool:
    """Whether a constant is a text that begins with the prefix."""
    return isinstance(text.value, str) and text.value.startswith(PREFIX)


def names_prefix(text: ast.Constant) -> bool:
    """Whether a constant is a text that begins with the prefix, or is the prefix without its dot."""
    return begins_so(text) or text.value == PREFIX[:-1]


def right_without(facts: Facts, names: Names, node: ast.Constant) -> bool:
    """Whether code with a text that begins with the prefix is right for names that do not, too."""
    return (
        _harmless(names, node)
        or _tried_in_turn(names, node)
        or _asked(names, node)
        or _given_to_strip(facts, names, node)
        or _asked_without(names, node)
        or _where_both_are_read(names, node)
    )


@once
def has_part_module(facts: Facts) -> bool:
    """Whether something in the project keeps a part named module, whose names begin so without a wrapper."""
    return any(PREFIX[:-1] in names.stores for names in facts.files)


def _harmless(names: Names, node: ast.Constant) -> bool:
    """Whether a text is only taken off, looked for to be taken off, or no key at all."""
    parent = names.parents[node]
    if isinstance(parent, (ast.Expr, ast.JoinedStr)):
        return isinstance(parent, ast.Expr)
    if isinstance(parent, ast.keyword):
        parent = names.parents[parent]
    if isinstance(parent, (ast.Tuple, ast.List)):
        parent = names.parents[parent]
    if isinstance(parent, ast.Call):
        called = (
            parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        )
        exact = node.value == PREFIX
        if called == "replace":
            return parent.args[:1] == [node]
        if called in STRIPPING or called == "len":
            return True
        return exact and called in TESTS
    if isinstance(parent, ast.Compare):
        # `"module." in key` asks; `key == "module.fc.weight"` names one.
        return node.value == PREFIX and isinstance(parent.ops[0], (ast.In, ast.NotIn, ast.Eq))
    if isinstance(parent, ast.IfExp):
        return _as_found(parent, node)
    return isinstance(parent, ast.Assign) and node.value == PREFIX


def _as_found(choice: ast.IfExp, node: ast.Constant) -> bool:
    """`"module." if name.startswith("module") else ""`: the prefix where names have it, else nothing."""
    looked_for = [part.value for part in ast.walk(choice.test) if isinstance(part, ast.Constant)]
    nothing = isinstance(choice.orelse, ast.Constant) and choice.orelse.value == ""
    return choice.body is node and nothing and bool({PREFIX, PREFIX[:-1]}.intersection(map(str, looked_for)))


def _tried_in_turn(names: Names, node: ast.Constant) -> bool:
    """`for prefix in ("module.", "net."):` where each is only looked for, or taken off."""
    loop = names.parents[names.parents[node]]
    if not isinstance(loop, ast.For) or loop.iter is not names.parents[node] or node.value != PREFIX:
        return False
    inside = set(names.walk(loop))
    uses = [use for use in names.uses.get(ast.unparse(loop.target), ()) if isinstance(use.ctx, ast.Load)]
    return bool(uses) and all(use in inside and _strips(names, use) for use in uses)


def _asked(names: Names, node: ast.AST) -> bool:
    """Whether a text is used only under `hasattr(model, "module")`, which is false without a wrapper."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            inside = parent.body is child or (isinstance(parent, ast.If) and child in parent.body)
            if inside and _asks(names, parent.test):
                return True
        child = parent
    return False


def _asks(names: Names, test: ast.expr) -> bool:
    """Whether a test can only hold for a wrapped model; also a variable with such a test."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks(names, value) for value in test.values)
    if isinstance(test, (ast.Name, ast.Attribute)):
        bound = names.bindings(test.id, test) if isinstance(test, ast.Name) else []
        kept = names.stores.get(test.attr, ()) if isinstance(test, ast.Attribute) else ()
        held = [binding.value for binding in (*bound, *(binding for _, binding in kept))]
        return len(held) == 1 and isinstance(held[0], (ast.BoolOp, ast.Call)) and _asks(names, held[0])
    return question(test) and getattr(getattr(test, "func", None), "id", "") == "hasattr"


def _given_to_strip(facts: Facts, names: Names, node: ast.Constant) -> bool:
    """Whether a text is passed to functions of the project that only take off what they are given."""
    call = names.parents[node]
    call = names.parents[call] if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or node.value != PREFIX:
        return False
    found = []
    for where, function in facts.flow.functions(names, call):
        taken = (name for name in positional(function) if passed(where, function, names, call, name) is node)
        name = next(taken, "")
        uses = [use for use in where.uses.get(name, ()) if function in where.ancestors(use)]
        found.append(bool(uses) and all(_strips(where, use) for use in uses))
    return bool(found) and all(found)


def _strips(names: Names, use: ast.expr) -> bool:
    """Whether a variable with the prefix is looked for, measured or taken off."""
    call = names.parents[use]
    if not isinstance(call, ast.Call):
        return False
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return called == "len" or called in TESTS or (called in STRIPPING and call.args[:1] == [use])


def _asked_without(names: Names, node: ast.Constant) -> bool:
    """`key.startswith("module.body")` beside `key.startswith("body")`: both kinds of names are read."""
    bare = str(node.value).removeprefix(PREFIX)
    call = names.parents[node]
    if not bare or not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "startswith":
        return False
    same = ast.dump(call.func)
    others = (c for c in names.calls["startswith"] if names.function(c) is names.function(node))
    return any(
        ast.dump(other.func) == same and getattr(other.args[0], "value", None) == bare for other in others
    )


def _where_both_are_read(names: Names, node: ast.Constant) -> bool:
    """Whether a text is `if "module.head" in state:`, or used below that, beside one of "head"."""
    child: ast.AST = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and (child is parent.test or child in parent.body):
            looked_for = _looked_for(parent.test)
            bare = looked_for.removeprefix(PREFIX)
            around = names.walk(names.function(node) or names.source.tree)
            tests = (part.test for part in around if isinstance(part, ast.If))
            parts = (part for test in tests for part in ast.walk(test))
            if looked_for != bare and bare and any(_looked_for(part) == bare for part in parts):
                return str(node.value).startswith(PREFIX) and looked_for.startswith(str(node.value))
        child = parent
    return False


def _looked_for(test: ast.AST) -> str:
    """The text of `"head.weight" in state`."""
    asked = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)
    text = test.left if asked and isinstance(test, ast.Compare) else None
    return str(text.value) if isinstance(text, ast.Constant) else ""


def leaves_out(names: Names, node: ast.Constant) -> bool:
    """Whether names without the prefix are passed over where a dict is filled, or made.

    `if key.startswith("module."): bare[key[7:]] = value` and nothing for other keys, or
    `if "module." not in key: continue` above what fills it, and both in a comprehension's `if`.
    """
    if node.value not in (PREFIX, PREFIX[:-1]):
        return False
    test, holds = _test_of_prefix(names, node)
    around = names.parents.get(test)
    if isinstance(around, ast.comprehension):
        return holds and _makes_pairs(names.parents[around])
    loop = names.parents.get(around) if around is not None else None
    if not isinstance(around, ast.If) or around.test is not test or around.orelse:
        return False
    if not isinstance(loop, ast.For) or around not in loop.body:
        return False
    iterated = {part.id for part in ast.walk(loop.iter) if isinstance(part, ast.Name)}
    if not holds:
        below = loop.body[loop.body.index(around) + 1 :]
        stored = {ast.unparse(store) for statement in below for store in _filled(names, statement)}
        return isinstance(around.body[-1], ast.Continue) and bool(stored - iterated)
    filled = _filled(names, around)
    others = set(_filled(names, loop)) - set(filled)
    into = {ast.unparse(store) for store in filled}
    return bool(into - iterated) and not into & {ast.unparse(store) for store in others}


def _test_of_prefix(names: Names, node: ast.Constant) -> tuple[ast.AST, bool]:
    """The whole test that holds only for names with the prefix, and True; or only for others, and False."""
    test, holds = names.parents[node], True
    if isinstance(test, ast.Compare):
        holds = not isinstance(test.ops[0], (ast.NotIn, ast.NotEq))
    elif getattr(getattr(test, "func", None), "attr", "") != "startswith":
        return node, True
    parent = names.parents[test]
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        if isinstance(parent, ast.UnaryOp):
            holds = not holds
        elif isinstance(parent.op, ast.And) is not holds:
            return node, True  # another part of it may let the others in
        test, parent = parent, names.parents[parent]
    return test, holds


def _makes_pairs(made: ast.AST) -> bool:
    """`{key: value for ...}`, and the pairs of `dict((key, value) for ...)`."""
    return isinstance(made, ast.DictComp) or isinstance(getattr(made, "elt", None), ast.Tuple)


def _filled(names: Names, block: ast.AST) -> list[ast.expr]:
    """The variables that a block stores into by a key."""
    return [
        part.value
        for part in names.walk(block)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    ]


def taken_off(names: Names, call: ast.Call) -> bool:
    """Whether the function that loads names takes the prefix off those that have it."""
    return any(
        isinstance(part, ast.Constant)
        and part.value in (PREFIX, PREFIX[:-1])
        and isinstance(names.parents[part], (ast.Call, ast.Compare))
        for part in names.walk(names.function(call) or names.source.tree)
    )


def cuts_off(facts: Facts, names: Names, node: ast.expr) -> bool:
    """`key[7:]` and the like for the keys of a dict: whatever the first part is, it is gone."""
    keys = [part for part in ast.walk(node) if isinstance(part, ast.Name) and _is_key(names, part)]
    if len({key.id for key in keys}) != 1:
        return False
    cut, other = (constant_of(node, {keys[0].id: name}) for name in (PREFIX + BARE, BARE))
    if cut != BARE or other == BARE:
        return False
    prefixes = {PREFIX} if _names_alike(facts) else {PREFIX, PREFIX[:-1]}
    for parent in names.ancestors(node):
        tests = [parent.test] if isinstance(parent, (ast.If, ast.IfExp)) else []
        if isinstance(parent, COMPREHENSIONS):
            tests += [test for generator in parent.generators for test in generator.ifs]
        if any(
            isinstance(part, ast.Constant) and part.value in prefixes for t in tests for part in ast.walk(t)
        ):
            return False
    return True


@once
def _names_alike(facts: Facts) -> bool:
    """Whether a name in a model of the project may begin with module without the wrapper's."""
    return any(name.startswith(PREFIX[:-1]) for names in facts.files for name in names.stores)


def _is_key(names: Names, name: ast.Name) -> bool:
    return any(b.kind == "each" and _keys(b.value) for b in names.bindings(name.id, name))


def _keys(iterated: ast.expr | None) -> bool:
    called = iterated.func if isinstance(iterated, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in ("items", "keys")
