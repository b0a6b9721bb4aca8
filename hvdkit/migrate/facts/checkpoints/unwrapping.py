"""Places that look through the wrapper of a model: x.module, and the questions whether there is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.syncing import NO_SYNC, for_ddp_only
from hvdkit.migrate.facts.models.wraps import find_wraps, removed
from hvdkit.migrate.facts.programs.programs import kinds_of, migrates
from hvdkit.migrate.facts.programs.reached_code import trained_by
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.filled_lists import elements
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FunctionNode, Names

# Library objects with a `module` of their own.
PLAIN = ("torch.nn.", "torchvision.models.")  # models without one
HOLDERS = ("torch.optim.swa_utils.AveragedModel", "timm.utils.", "torch_ema.")


def wrapped(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression may be a model whose wrapper this run takes away."""
    values = facts.flow.values(names, node)
    copies = [value for value in values if value.name == "copy.deepcopy" and value.node is not node]
    return any(_goes(facts, value) for value in values) or any(
        wrapped(facts, copy.names, copy.node.args[0])
        for copy in copies
        if isinstance(copy.node, ast.Call) and copy.node.args
    )


def _goes(facts: Facts, value: Value) -> bool:
    """Whether a value is a wrapper that this run takes away: DataParallel only where something is trained."""
    if value.name in words.DATA_PARALLEL & removed(facts):
        return migrates(facts, value.names)
    return value.name in words.DDP


def wrapped_later(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether the wrapping of an expression's model stands below it in the same function."""
    wraps = [value for value in facts.flow.values(names, node) if _goes(facts, value)]
    function = names.function(node)
    return bool(wraps) and all(
        value.names is names
        and names.function(value.node) is function
        and getattr(value.node, "lineno", 0) > node.lineno
        for value in wraps
    )


def unknown(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether nothing is known of an expression."""
    values = facts.flow.values(names, node)
    return all(value.kind == "param" or value.name.startswith("?.") for value in values)


def own_module(facts: Facts, names: Names, node: ast.expr) -> Value | None:
    """The first value of the expression, not a wrapper, that has an attribute `module` of its own."""
    for value in sorted(facts.flow.values(names, node), key=_place):
        if value.kind == "made" and value.name.startswith(HOLDERS):
            return value
        if value.kind == "object" and isinstance(value.node, ast.ClassDef):
            if "module" in value.names.scopes[value.node].names or _stores_module(value):
                return value
    return None


def none_has_module(facts: Facts) -> bool:
    """Whether every model whose wrapper goes is known, and has no attribute `module` of its own.

    Then `getattr(x, "module", x)` is the model where x was its wrapper, and as before where it is not.
    """
    models = [wrap.models for wrap in find_wraps(facts) if _goes(facts, wrap.value)]
    return bool(models) and all(known and all(_has_none(facts, v) for v in known) for known in models)


def _has_none(facts: Facts, value: Value) -> bool:
    if value.kind == "made":
        return value.name.startswith(PLAIN)
    if value.kind != "object" or not isinstance(value.node, ast.ClassDef):
        return False
    classes = [Value("object", node.name, node, names) for names, node in facts.flow.classes(value)]
    return all(base.startswith("torch.nn.") for base in facts.flow.bases(value)) and not any(
        "module" in each.names.scopes[each.node].names or _stores_module(each) for each in classes
    )


def _place(value: Value) -> tuple[str, int, str]:
    return str(value.names.source.path), getattr(value.node, "lineno", 0), value.name


def _stores_module(value: Value) -> bool:
    stores = value.names.stores.get("module", ())
    return any(isinstance(x, ast.Name) and value.node in value.names.ancestors(x) for x, _ in stores)


def asked_first(names: Names, node: ast.AST, model: ast.expr) -> bool:
    """Whether code runs only if the model turned out to have a wrapper: it is right without one."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            if any(question(part, model) for part in ast.walk(parent.test)):
                return True
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and child in parent.values:
            first = parent.values[: parent.values.index(child)]
            if any(question(part, model) for value in first for part in ast.walk(value)):
                return True
        if any(_leaves_without(above, model) for above in _above(parent, child)):
            return True
        if isinstance(parent, ast.Try) and child in parent.body:
            caught = [handler.type for handler in parent.handlers]
            if any(isinstance(name, ast.Name) and name.id == "AttributeError" for name in caught):
                return True
        child = parent
    return False


def _above(parent: ast.AST, child: ast.AST) -> list[ast.stmt]:
    """The statements above one in its block."""
    for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
        if isinstance(block, list) and child in block:
            return block[: block.index(child)]
    return []


def _leaves_without(node: ast.stmt, model: ast.expr) -> bool:
    """`if not hasattr(model, "module"): break`."""
    test = node.test if isinstance(node, ast.If) and isinstance(node.test, ast.UnaryOp) else None
    if test is None or not isinstance(test.op, ast.Not) or not question(test.operand, model):
        return False
    return isinstance(node.body[-1], (ast.Break, ast.Continue, ast.Return, ast.Raise))  # type: ignore[attr-defined]


def question(node: ast.AST, model: ast.expr | None = None) -> bool:
    """Whether a node is hasattr(model, "module") or isinstance(model, ...)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2):
        return False
    if model is not None and ast.dump(node.args[0]) != ast.dump(model):
        return False
    if node.func.id == "hasattr":
        return isinstance(node.args[1], ast.Constant) and node.args[1].value == "module"
    return node.func.id == "isinstance"


def class_questions(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """isinstance(x, DDP), also with a tuple of classes."""
    for names in facts.files:
        for call in names.calls.get("isinstance", ()):
            if question(call) and any(
                set(names.qualified(part)) & words.WRAPS
                for part in ast.walk(call.args[1])
                if isinstance(part, (ast.Name, ast.Attribute))
            ):
                yield names, call


def of_record(names: Names, use: ast.Name) -> bool:
    """Whether a loop's variable stands for what is made with a `module=` of its own, wrapping nothing."""
    made = elements(names, use)
    return bool(made) and all(
        isinstance(each, ast.Call)
        and keyword(each, "module") is not None
        and not words.WRAPS & set(names.qualified(each.func))
        for each in made
    )


def of_context(facts: Facts, names: Names, use: ast.Name) -> bool:
    """Whether a name is the context of an autograd function: what forward() keeps there, backward() takes."""
    function, owner = names.function(use), names.class_around(use)
    if not isinstance(function, ast.FunctionDef) or owner is None or not function.args.args:
        return False
    bases = {name for base in owner.bases for name in facts.flow.qualified(names, base)}
    return "torch.autograd.Function" in bases and use.id == function.args.args[0].arg


def loses_wrappers(facts: Facts, names: Names) -> bool:
    """Whether a file belongs to a program of DDP, or to one of a single process that loses DataParallel."""
    kinds = kinds_of(facts, names)
    gone = (wrap for wrap in find_wraps(facts) if wrap.name in words.DATA_PARALLEL)
    return "ddp" in kinds or (
        "single" in kinds and any("single" in kinds_of(facts, wrap.names) for wrap in gone)
    )


def must_hold(facts: Facts, names: Names, question: ast.Call) -> bool:
    """Whether a program of one process, which loses DataParallel, stops where a test for that is false."""
    holds = isinstance(names.parents[question], ast.Assert) and loses_wrappers(facts, names)
    return holds and bool(trained_by(facts, names, question))


def looks_through(names: Names, call: ast.Call) -> bool:
    """Whether a test only guards a look through the wrapper, or its no_sync(): right without one."""
    for parent in names.ancestors(call):
        if isinstance(parent, (ast.If, ast.IfExp)):
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            inside = [part for statement in body for part in ast.walk(statement)]
            branches = [part for part in ast.walk(parent) if isinstance(part, ast.Attribute)]
            if any(part.attr == NO_SYNC and for_ddp_only(names, part) for part in branches):
                return True
            return any(isinstance(part, ast.Attribute) and part.attr == "module" for part in inside)
        if isinstance(parent, ast.stmt):
            return False
    return False


def left_out(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether what `if hasattr(model, "module"):` does is not done any more, and nothing is in its place.

    What only looks through the wrapper is right without one: `model = model.module`, `return model.module`.
    """
    parent = names.parents[call]
    while isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        parent = names.parents[parent]
    if not isinstance(parent, ast.If) or parent.orelse or not wrapped(facts, names, call.args[0]):
        return False
    model = ast.dump(call.args[0])
    one = len(parent.body) == 1
    return not all(_looks(statement, model, one) for statement in parent.body)


def _looks(statement: ast.stmt, model: str, one: bool) -> bool:
    """`model = model.module`, and as the only statement whatever returns or keeps something of it."""
    if isinstance(statement, ast.Return):
        return one
    value = statement.value if isinstance(statement, ast.Assign) else None
    through = isinstance(value, ast.Attribute) and value.attr == "module"
    return value is not None and (one or (through and ast.dump(value.value) == model))  # type: ignore[attr-defined]


def only_asks(facts: Facts, names: Names, test: ast.expr) -> bool:
    """Whether a test has no effect: it calls `isinstance` and its like, or a function that returns one."""
    if any(isinstance(part, ast.NamedExpr) for part in ast.walk(test)):
        return False
    for call in (part for part in ast.walk(test) if isinstance(part, ast.Call)):
        functions = facts.flow.functions(names, call)
        if not _asks(call) and not (functions and all(_returns_test(*found) for found in functions)):
            return False
    return True


def _returns_test(names: Names, function: FunctionNode) -> bool:
    """Whether a function is one `return` that calls nothing but `isinstance` and its like."""
    if isinstance(function, ast.Lambda):
        return False
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return [type(s) for s in body] == [ast.Return] and all(_asks(call) for call in names.calls_in(body[0]))


def _asks(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "hasattr", "type")
