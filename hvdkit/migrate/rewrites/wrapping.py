"""Taking a wrapping call such as DDP(model) away: what is left, and where lines about the model can stand.

The call may be the value of an assignment or a return, stand in a tuple, list, dict or comprehension that is
assigned, in one branch of a conditional expression, or be an argument, also of setattr. Everything else
raises CannotEdit. What the lines say is the business of the rule that takes the call away; what three rules
write is here.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.values.wrappers import RETURNS_SELF, is_wrapper
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import COMPREHENSIONS, Names

# Writes what has to be said about a model, given an expression that is the model.
Lines = Callable[[str], Sequence[str]]

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
VARIABLES = (ast.Name, ast.Attribute, ast.Subscript)
SIMPLE_TESTS = (*VARIABLES, ast.Call)
LOOP_NAMES = ("model", "net", "module", "each_model")


@dataclass(frozen=True)
class _Place:
    """Where a call stands in its statement's value.

    steps: subscripts that lead from the value to the model. each: "" or ".values()" when the value is a
    comprehension of models. tests: of the conditional expressions around it, innermost first, and whether
    it stands in the `else`.
    """

    statement: ast.stmt
    steps: tuple[str, ...]
    each: str | None
    tests: tuple[tuple[ast.expr, bool], ...] = ()


def take_away(
    names: Names, call: ast.Call, inner: ast.expr, core: ast.expr, lines: Lines, always: bool = True
) -> list[Edit]:
    """Edits that leave `inner` where `call` stood, and put lines about the model where it can be named.

    core: what is left of `inner` when the other rules have taken their wrappers away, too. always: whether
    the lines may be run where a conditional expression did not call the wrapper: broadcasting a model that is
    not distributed changes nothing.
    """
    source = names.source
    statement = names.statement(call)
    try:
        place = _place(names, call)
        if place.tests and not always:
            tested = _tested(names, statement, call, core, lines)
            if tested:
                return tested
            lines = _under(names, place, lines)
        if isinstance(statement, ast.Return):
            return _returned(names, statement, call, inner, core, place, lines)
        target = _target(names, statement, place)
    except edits.CannotEdit:
        if _sets_again(names, statement, call, core):
            return _instead(names, statement, lines(source.segment(core)))
        if _early(names, call) and isinstance(inner, (ast.Name, ast.Attribute)):
            text = lines(source.segment(inner))
            above = [edits.before(source, statement, text)] if text else []
            return [*above, *edits.unwrap(source, call, inner)]
        raise
    said = _said(names, place, target, lines)
    if place.each is None and not place.steps and _is_same(names, statement, call, core, target):
        return _instead(names, statement, said)
    below = [edits.after(source, statement, said)] if said else []
    return [*edits.unwrap(source, call, inner), *below]


def broadcast_line(facts: Facts, names: Names, model: str) -> str:
    """The line that gives every rank the weights of rank 0, as DDP's constructor does."""
    hvd = horovod_name(facts, names)
    if facts.options.target == "hvdkit":
        return f"{hvd}.broadcast({model})"
    return f"{hvd}.broadcast_parameters({model}.state_dict(), root_rank=0)"


def broadcast_lines(
    facts: Facts, names: Names, models: Sequence[str], copies: Mapping[str, str]
) -> list[str]:
    """The broadcasts of models, and of those that took over their weights, under the tests of these."""
    lines = [broadcast_line(facts, names, model) for model in models]
    for copy, test in copies.items():
        line = broadcast_line(facts, names, copy)
        lines += [f"if {test}:", f"\t{line}"] if test else [line]
    return lines


def _instead(names: Names, statement: ast.stmt, said: Sequence[str]) -> list[Edit]:
    """What is said about a model in place of a statement that did nothing but wrap it."""
    if not said:
        return [edits.delete(names, statement)]
    edits.own_lines(names.source, statement)
    return [edits.replace(names.source, statement, _indented(names, statement, said))]


def _sets_again(names: Names, statement: ast.stmt, call: ast.Call, core: ast.expr) -> bool:
    """Whether a statement is `setattr(x, name, DDP(getattr(x, name)))`."""
    outer = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(outer, ast.Call) or not isinstance(core, ast.Call) or len(core.args) != 2:
        return False
    builtin = [(outer.func, "setattr"), (core.func, "getattr")]
    if not all(isinstance(f, ast.Name) and f.id == n and not names.bindings(n, f) for f, n in builtin):
        return False
    pure = not any(isinstance(part, ast.Call) for given in core.args for part in ast.walk(given))
    same = [ast.dump(given) for given in outer.args[:2]] == [ast.dump(given) for given in core.args]
    return pure and same and outer.args[2:] == [call] and not outer.keywords and not core.keywords


def _place(names: Names, call: ast.Call) -> _Place:
    """Climb from the call to its statement. Raises CannotEdit where the way cannot be written down."""
    steps: list[str] = []
    each: str | None = None
    tests: list[tuple[ast.expr, bool]] = []
    node: ast.AST = call
    while True:
        parent = names.parents[node]
        if isinstance(parent, ast.stmt):
            break
        if isinstance(parent, ast.Attribute) and parent.attr in RETURNS_SELF:
            outer = names.parents[parent]
            if not isinstance(outer, ast.Call):
                raise edits.CannotEdit("a method of the wrapped model is passed on")
            node = outer
            continue
        if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
            if not any(is_wrapper(name) for name in names.qualified(parent.func)):
                raise edits.CannotEdit("the wrapping call is an argument of another call")
        elif isinstance(parent, ast.IfExp) and node is not parent.test:
            tests.append((parent.test, node is parent.orelse))
        elif isinstance(parent, (ast.Tuple, ast.List)) and each is None:
            steps.insert(0, f"[{parent.elts.index(node)}]")  # type: ignore[arg-type]
        elif isinstance(parent, ast.Dict) and node in parent.values and each is None:
            key = parent.keys[parent.values.index(node)]
            if not isinstance(key, ast.Constant):
                raise edits.CannotEdit("the dict's key is not a literal")
            steps.insert(0, f"[{names.source.segment(key)}]")
        elif isinstance(parent, ast.ListComp) and node is parent.elt and not steps and each is None:
            each = ""
        elif isinstance(parent, ast.DictComp) and node is parent.value and not steps and each is None:
            each = ".values()"
        else:
            raise edits.CannotEdit("the wrapping call is part of a larger expression")
        node = parent
    return _Place(parent, tuple(steps), each, tuple(tests))


def _under(names: Names, place: _Place, lines: Lines) -> Lines:
    """Lines under the tests of the conditional expressions around a call, asked again below the statement."""
    tests = [test for test, _ in place.tests]
    if place.each is not None or any(not _asks_alike(names, test, place.statement) for test in tests):
        raise edits.CannotEdit("the test that decides whether the model is wrapped cannot be repeated")
    texts = []
    for test, other in reversed(place.tests):
        text = names.source.segment(test)
        simple = isinstance(test, SIMPLE_TESTS) or (not other and len(place.tests) == 1)
        texts.append(("not " if other else "") + (text if simple else f"({text})"))
    return lambda model: [f"if {' and '.join(texts)}:", *(f"\t{line}" for line in lines(model))]


def _tested(names: Names, statement: ast.stmt, call: ast.Call, core: ast.expr, lines: Lines) -> list[Edit]:
    """`model = wrap(model) if test else model` as an `if`; its test is open to other rules."""
    source, value = names.source, getattr(statement, "value", None)
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) > 1
        or not isinstance(value, ast.IfExp)
    ):
        return []
    target = source.segment(statement.targets[0])
    other = value.orelse if value.body is call else value.body
    if call not in (value.body, value.orelse) or {source.segment(core), source.segment(other)} != {target}:
        return []
    edits.own_lines(source, statement)
    before, after = ("if ", ":") if value.body is call else ("if not ", ":")
    if before == "if not " and not isinstance(value.test, SIMPLE_TESTS):
        before, after = "if not (", "):"
    below = _indented(names, statement, [after, *(f"\t{line}" for line in lines(target))])
    return [
        Edit(source.start(statement), source.start(value.test), before),
        Edit(source.end(value.test), source.end(statement), below),
    ]


def _asks_alike(names: Names, test: ast.expr, statement: ast.stmt) -> bool:
    """Whether a test says the same below a statement: it calls nothing, and nothing in it is set there."""
    said = names.source.segment(test)
    parts = list(ast.walk(test))
    if "\n" in said or any(isinstance(part, (ast.Call, ast.NamedExpr, ast.Await)) for part in parts):
        return False
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    changed = {ast.unparse(part) for target in targets if target for part in ast.walk(target)}
    return not any(ast.unparse(part) in changed for part in parts if isinstance(part, VARIABLES))


def _target(names: Names, statement: ast.stmt, place: _Place) -> str:
    """The text that means the model (or the collection of models) below the statement."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        raise edits.CannotEdit("the wrapped model is not assigned to anything")
    target, steps = targets[0], list(place.steps)
    while isinstance(target, (ast.Tuple, ast.List)) and steps:
        position = int(steps.pop(0)[1:-1])
        if any(isinstance(element, ast.Starred) for element in target.elts) or position >= len(target.elts):
            raise edits.CannotEdit("the wrapped model is unpacked from a longer tuple")
        target = target.elts[position]
    if not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        raise edits.CannotEdit("the wrapped model is unpacked")
    if any(isinstance(part, ast.Call) for part in ast.walk(target)):
        raise edits.CannotEdit("the assignment's target makes a call")
    return names.source.segment(target) + "".join(steps)


def _said(names: Names, place: _Place, target: str, lines: Lines) -> list[str]:
    """The lines about the model, in a loop over several."""
    if place.each is None:
        return list(lines(target))
    model = _free_name(names)
    inside = [f"\t{line}" for line in lines(model)]
    return [f"for {model} in {target}{place.each}:", *inside] if inside else []


def _is_same(names: Names, statement: ast.stmt, call: ast.Call, core: ast.expr, target: str) -> bool:
    """Whether `target = ...` would only assign the model to the name it has."""
    segment = names.source.segment
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return False
    if isinstance(value, ast.IfExp):
        other = value.orelse if value.body is call else value.body
        pure = not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(value.test))
        arms = {segment(core), segment(other)}
        return pure and call in (value.body, value.orelse) and arms == {target}
    return value is call and segment(core) == target


def _returned(
    names: Names,
    statement: ast.Return,
    call: ast.Call,
    inner: ast.expr,
    core: ast.expr,
    place: _Place,
    lines: Lines,
) -> list[Edit]:
    """`return DDP(x)`: the model gets a name, the lines, and is returned.

    Of two wrappers in one return, the inner one's rule comes later and writes the new return.
    """
    source = names.source
    if not lines("model"):
        return edits.unwrap(source, call, inner)
    if statement.value is call and isinstance(inner, (ast.Name, ast.Attribute)):
        text = lines(source.segment(inner))
        return [edits.before(source, statement, text), *edits.unwrap(source, call, inner)]
    if place.steps or place.each is not None or statement.value is None:
        raise edits.CannotEdit("the wrapped model is returned inside a collection")
    model = _free_name(names)
    head = Edit(source.start(statement), source.start(statement.value), f"{model} = ")
    said = [*_said(names, place, model, lines), *([f"return {model}"] if core is inner else [])]
    return [head, *edits.unwrap(source, call, inner), edits.after(source, statement, said)]


def _early(names: Names, call: ast.Call) -> bool:
    """Whether a line above the statement does what it would do where the call stands."""
    statement = names.statement(call)
    if not isinstance(statement, SIMPLE):
        return False
    child: ast.AST = call
    for parent in names.ancestors(call):
        if parent is statement:
            return True
        if isinstance(parent, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.NamedExpr, *COMPREHENSIONS)):
            return False
        if isinstance(parent, ast.Call):
            others = [item for item in (*parent.args, *parent.keywords) if item is not child]
            if any(isinstance(part, ast.Call) for item in others for part in ast.walk(item)):
                return False
        child = parent
    return False


def _free_name(names: Names) -> str:
    return next((name for name in LOOP_NAMES if name not in names.uses), "each_model_")


def _indented(names: Names, statement: ast.stmt, lines: Sequence[str]) -> str:
    """Lines as the text of a statement: the first one stands where the statement does."""
    source = names.source
    indent = source.indent(source.line_at(source.start(statement)))
    return (source.newline + indent).join(line.replace("\t", source.unit_in(indent)) for line in lines)
