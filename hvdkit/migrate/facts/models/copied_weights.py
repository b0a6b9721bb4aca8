"""Models that took over another's weights before a place: target networks, averages, teachers.

Above the place, in its function or before the call of it, `target.load_state_dict(net.state_dict())`,
`target = copy.deepcopy(net)`, or a loop that moves the parameters of one towards the other's; also in
functions and methods that are called there. They hold each rank's own weights, from before the broadcast.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.arguments import argument, passes_self
from hvdkit.migrate.values.handed_out import assigned_to
from hvdkit.source.index.names import FUNCTIONS, LOOPS, FunctionNode, Names

Copy = tuple[str, str]  # what took over weights, and whose, as they are written
Tested = tuple[str, str, str]  # the same, and the test under which it did; empty for none


def copies_above(
    facts: Facts, names: Names, place: ast.stmt, models: Iterable[str], with_it: bool = False
) -> dict[str, str]:
    """The models that took over the weights of some before a place, as they are written there.

    Each with the test under which it did, for there may be none of it otherwise; empty for no test.
    with_it: whether what the statement at the place copies counts, too.
    """
    every = [*_above(names, place), *([place] if with_it else [])]
    found = [copy for statement in every for copy in _copies(facts, names, statement)]
    function = names.function(place)
    if function is not None:
        for where, call in facts.flow.call_sites(names, function):
            for statement in _above(where, where.statement(call)):
                for target, source, test in _copies(facts, where, statement):
                    copies = _inwards(names, function, where, call, (target, source)) if not test else ()
                    found += ((*copy, "") for copy in copies)
    known = set(models)
    tests: dict[str, str] = {}
    for target, source, test in found:
        # A copy of a whole of which parts are known holds copies of these; one of a part is such a copy.
        shares = any(_begins(source, model) or _begins(model, source) for model in known)
        if shares and target not in known:
            tests[target] = test and tests.get(target, test)
    return tests


def _above(names: Names, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements above one, in its block and in those around it, up to its function."""
    child: ast.AST = statement
    while not isinstance(child, (*FUNCTIONS, ast.Module)):
        if isinstance(child, ast.stmt) and not isinstance(child, ast.ClassDef):
            block = edits.block(names, child)
            yield from block[: block.index(child)]
        child = names.parents[child]


def _copies(facts: Facts, names: Names, statement: ast.AST) -> Iterator[Tested]:
    """The copies that a statement makes, itself or in what it calls, where it is known when it does."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    found = list(_moved(names, statement))
    for call in names.calls_in(statement):
        made = _copy(names, call)
        found += [(call, made)] if made is not None else []
        for where, function in facts.flow.functions(names, call):
            for target, source, test in _inside(facts, where, function):
                copied = _outwards(where, function, names, call, target) if not test else ""
                if copied:
                    found.append((call, (copied, _outwards(where, function, names, call, source))))
    for node, copy in found:
        when = _test(names, node, statement)
        if when is not None:
            yield (*copy, when)


def _test(names: Names, node: ast.AST, statement: ast.AST) -> str | None:
    """The test in a statement under which a node runs; None where it cannot be asked again further down."""
    tests: list[str] = []
    child = node
    while child is not statement:
        parent = names.parents[child]
        if isinstance(parent, ast.If) and child is not parent.test:
            if child not in parent.body or not _plain(parent.test):
                return None
            tests.append(names.source.segment(parent.test))
        elif isinstance(parent, (*LOOPS, *FUNCTIONS, ast.Try, ast.IfExp, ast.BoolOp)):
            return None
        child = parent
    return " and ".join(reversed(tests))


def _plain(test: ast.expr) -> bool:
    """Whether a test is a setting, or compares one with a constant."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _plain(test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _plain(test.left) and isinstance(test.comparators[0], ast.Constant)
    return isinstance(test, ast.Name) or (isinstance(test, ast.Attribute) and _plain(test.value))


def _inside(facts: Facts, names: Names, function: FunctionNode) -> list[Tested]:
    """The copies that a function makes, looked up once; one that calls itself adds nothing."""
    known = _copies_inside(facts)
    if function not in known:
        known[function] = []
        body = function.body if isinstance(function.body, list) else []
        known[function] = [copy for part in body for copy in _copies(facts, names, part)]
    return known[function]


@once
def _copies_inside(facts: Facts) -> dict[FunctionNode, list[Tested]]:
    """What was found so far; a function that is being looked through has an empty list meanwhile."""
    return {}


def _copy(names: Names, call: ast.Call) -> Copy | None:
    """`target.load_state_dict(net.state_dict())` and `target = copy.deepcopy(net)`."""
    given = call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict":
        state = given.func if isinstance(given, ast.Call) else None
        if isinstance(state, ast.Attribute) and state.attr == "state_dict":
            return _text(names, call.func.value), _text(names, state.value)
    elif given is not None and "copy.deepcopy" in names.qualified(call.func):
        statement = names.statement(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, (ast.Name, ast.Attribute)):
            return _text(names, target), _text(names, given)
    return None


def _moved(names: Names, statement: ast.AST) -> Iterator[tuple[ast.AST, Copy]]:
    """`for t, p in zip(target.parameters(), net.parameters()): t.data.copy_(... p.data ...)`."""
    for loop in (part for part in names.walk(statement) if isinstance(part, ast.For)):
        zipped = loop.iter if isinstance(loop.iter, ast.Call) else None
        pair = [part.id for part in getattr(loop.target, "elts", ()) if isinstance(part, ast.Name)]
        if (
            zipped is None
            or getattr(zipped.func, "id", "") != "zip"
            or len(zipped.args) != 2
            or len(pair) != 2
        ):
            continue
        models = [
            _text(names, given.func.value)
            for given in zipped.args
            if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute)
            if given.func.attr == "parameters"
        ]
        changed = {_changed(part) for part in names.walk(loop)} & set(pair)
        if len(models) == 2 and len(changed) == 1:
            first = pair.index(changed.pop())
            yield loop, (models[first], models[1 - first])


def _changed(node: ast.AST) -> str:
    """The variable that a node changes in place: `t.data.copy_(x)`, `t.data = x`."""
    changed: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        changed = node.func.value
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        changed = node.value
    while isinstance(changed, ast.Attribute):
        changed = changed.value
    return changed.id if isinstance(changed, ast.Name) else ""


def _outwards(names: Names, function: FunctionNode, where: Names, call: ast.Call, text: str) -> str:
    """What is said in a function as its caller writes it; empty where it has no name there."""
    head, dot, tail = text.partition(".")
    first = function.args.args[0].arg if function.args.args else ""
    given: ast.expr | None
    if getattr(function, "name", "") == "__init__" and head == first:
        given = assigned_to(where.statement(call), call)
        if given is None and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            return text  # super().__init__(): the same object
    elif passes_self(names, function, where, call) and head == first:
        given = call.func.value if isinstance(call.func, ast.Attribute) else None
    else:
        given = argument(function, call, head, passes_self(names, function, where, call))
    return f"{_text(where, given)}{dot}{tail}" if isinstance(given, (ast.Name, ast.Attribute)) else ""


def _inwards(
    names: Names, function: FunctionNode, where: Names, call: ast.Call, copy: Copy
) -> Iterator[Copy]:
    """A copy above a call as it is written in the function: `agent.target` is `self.target` in its method."""
    parameters = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
    given = {name: _outwards(names, function, where, call, name) for name in parameters}
    written = [
        next((name + text[len(held) :] for name, held in given.items() if held and _begins(text, held)), "")
        for text in copy
    ]
    if all(written):
        yield written[0], written[1]


def _begins(text: str, whole: str) -> bool:
    return f"{text}.".startswith(f"{whole}.")


def _text(names: Names, node: ast.AST) -> str:
    return names.source.segment(node)
