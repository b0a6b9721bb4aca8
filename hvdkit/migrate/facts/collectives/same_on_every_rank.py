"""Whether an expression has the same value on all ranks: made of what a collective gave to each of them."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.collectives.collectives import is_world
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.values.arguments import positional
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names
from hvdkit.source.index.statements import statements_above

MAX_STEPS = 24
# Collectives that leave the same in their first argument on every rank.
_FILLS = {f"torch.distributed.{name}" for name in ("all_reduce", "all_gather", "broadcast")}
# What computes its result of its arguments alone.
_BUILTINS = {"abs", "float", "int", "len", "max", "min", "range", "sum"}
_FUNCTIONS = {
    "torch.cat",
    "torch.stack",
    "torch.zeros_like",
    "torch.ones_like",
    "torch.nn.functional.normalize",
}
_METHODS = {
    *("add", "add_", "clone", "contiguous", "copy_", "cpu", "detach", "div", "div_", "float", "item", "long"),
    *("mean", "mul", "mul_", "numel", "permute", "pow", "reshape", "size", "sqrt", "squeeze", "sub", "sub_"),
    *("sum", "t", "to", "transpose", "type", "unsqueeze", "view"),
}
_PLAIN = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List),
)
_SIGNS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_BUILDING = ("__init__", "reset_parameters")


def same_change_on_every_rank(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a statement runs on all ranks together, and changes what it changes by the same values."""
    statement = names.statement(node)
    if isinstance(statement, ast.Expr):
        parts: list[ast.expr] = [statement.value]
    elif isinstance(statement, ast.Assign):
        targets = [part for target in statement.targets for part in ast.walk(target)]
        parts = [statement.value, *(part.slice for part in targets if isinstance(part, ast.Subscript))]
    else:
        return False
    function = names.function(statement)
    if function is None or not any(_fills(facts, names, call) for call in names.calls_in(function)):
        return False  # no collective shows that all ranks come here together
    tests: list[ast.expr] = []
    for parent in names.ancestors(statement):
        if parent is function:
            break
        if isinstance(parent, ast.If):
            tests.append(parent.test)
        elif not isinstance(parent, ast.With):
            return False
    return all(_is_training(test) or same_on_every_rank(facts, names, test) for test in tests) and all(
        same_on_every_rank(facts, names, part) for part in parts
    )


def _is_training(test: ast.expr) -> bool:
    return isinstance(test, ast.Attribute) and test.attr == "training"


def same_on_every_rank(facts: Facts, names: Names, node: ast.AST, steps: int = 0) -> bool:
    """Whether an expression is the same on all ranks, where a module's settings and buffers are."""
    if steps > MAX_STEPS:
        return False
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return _filled(facts, names, node) or _bound_alike(facts, names, node, steps)
    if isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return (
            _kept_alike(facts, names, node)
            if own
            else same_on_every_rank(facts, names, node.value, steps + 1)
        )
    if isinstance(node, ast.Call):
        return _called_alike(facts, names, node, steps + 1)
    return isinstance(node, _PLAIN) and all(
        same_on_every_rank(facts, names, part, steps + 1)
        for part in ast.iter_child_nodes(node)
        if not isinstance(part, _SIGNS)
    )


def _called_alike(facts: Facts, names: Names, call: ast.Call, steps: int) -> bool:
    """A function of its arguments alone; or one of the project's own, all of whose results are alike."""
    own = facts.flow.functions(names, call)
    if own:
        results = [
            (where, result)
            for where, function in own
            for result in where.returns.get(function, ())
            if not _for_one(facts, where, result)
        ]
        return bool(results) and all(same_on_every_rank(facts, *result, steps) for result in results)
    parts: list[ast.AST] = [*call.args, *(item.value for item in call.keywords)]
    qualified = facts.flow.qualified(names, call.func)
    if isinstance(call.func, ast.Name):
        known = call.func.id in _BUILTINS and not names.bindings(call.func.id, call)
    elif qualified:
        known = set(qualified) <= _FUNCTIONS
    else:
        known = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
        parts += [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return known and all(same_on_every_rank(facts, names, part, steps) for part in parts)


def _for_one(facts: Facts, names: Names, result: ast.expr) -> bool:
    """Whether a result is that of a job of one process: `if get_world_size() == 1: return tensor`."""
    above = names.parents[names.statement(result)]
    test = above.test if isinstance(above, ast.If) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.comparators[0], ast.Constant):
        return False
    return "size" in rank_kinds(facts).of(names, test.left) and isinstance(
        test.ops[0], (ast.Eq, ast.Lt, ast.LtE)
    )


def _bound_alike(facts: Facts, names: Names, node: ast.Name, steps: int) -> bool:
    """Whether a variable only ever gets such values, or got one last; nothing changes it in place."""
    function = names.function(node)
    if function is None or _changed_in_place(function, node.id):
        return False
    last = last_binding(names, node)
    bindings = names.bindings(node.id, node) if last is None else [last]
    values = [b.value for b in bindings if b.kind == "assign" and not b.path and b.value is not None]
    if not values or len(values) < len(bindings):
        return False
    inside = [value for value in values if node not in ast.walk(value)]  # ptr = (ptr + n) % size
    return all(same_on_every_rank(facts, names, value, steps + 1) for value in inside)


def _changed_in_place(function: ast.AST, name: str) -> bool:
    """Whether a function writes into what a variable holds."""
    for part in ast.walk(function):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            base: ast.expr = part.value
        elif (
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr[-1] == "_"
        ):
            base = part.func.value
        elif isinstance(part, ast.AugAssign):
            base = part.target
        else:
            continue
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name) and base.id == name:
            return True
    return False


def _kept_alike(facts: Facts, names: Names, node: ast.Attribute) -> bool:
    """Whether self.x is a setting that only constructors store, or a buffer: HVD205 asks about each."""
    owner = names.class_around(node)
    if owner is None:
        return False
    registered = {
        call.args[0].value
        for call in names.calls.get("register_buffer", ())
        if owner in names.ancestors(call) and call.args and isinstance(call.args[0], ast.Constant)
    }
    same = [part for part in names.walk(owner) if isinstance(part, ast.Attribute) and part.attr == node.attr]
    stores = [part for part in same if isinstance(part.ctx, ast.Store)]
    building = [getattr(names.function(store), "name", "") in _BUILDING for store in stores]
    return node.attr in registered or (bool(stores) and all(building))


def _filled(facts: Facts, names: Names, node: ast.Name) -> bool:
    """Whether a collective above, in a block around a use, leaves the same in a variable on every rank."""
    child: ast.AST = node
    for parent in names.ancestors(node):
        if isinstance(child, ast.stmt):
            for statement in reversed(statements_above(names, child)):
                call = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(call, ast.Call) and _fills_first(facts, names, call, node.id):
                    return True
                if _stores(statement, node.id):
                    return False
        if isinstance(parent, FUNCTIONS):
            return False
        child = parent
    return False


def _fills_first(facts: Facts, names: Names, call: ast.Call, name: str) -> bool:
    """Whether a call fills a variable: its first argument, itself or through a helper."""
    if not call.args or not isinstance(call.args[0], ast.Name) or call.args[0].id != name:
        return False
    own = facts.flow.functions(names, call)
    if not own:
        return _fills(facts, names, call)
    return all(_reduces_first(facts, where, function) for where, function in own)


def _reduces_first(facts: Facts, names: Names, function: FunctionNode) -> bool:
    """Whether a helper runs a collective on its first parameter, but for a job of one process."""
    parameters = positional(function)
    for statement in function.body if isinstance(function, ast.FunctionDef) else ():
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and parameters:
            if _fills_first(facts, names, statement.value, parameters[0]):
                return True
        leaves = [part for part in ast.walk(statement) if isinstance(part, ast.Return)]
        if any(part.value is None or not _for_one(facts, names, part.value) for part in leaves):
            return False
    return False


def _stores(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for part in ast.walk(statement)
    )


def _fills(facts: Facts, names: Names, call: ast.Call, depth: int = 0) -> bool:
    """Whether a call is a collective of all ranks that fills its first argument, or a helper around one."""
    qualified = facts.flow.qualified(names, call.func)
    if qualified & _FILLS:
        group = {item.arg: item.value for item in call.keywords}.get("group")
        asynchronous = any(item.arg == "async_op" and not _is_false(item.value) for item in call.keywords)
        return len(call.args) <= 2 and (group is None or is_world(facts, names, group)) and not asynchronous
    if depth:
        return False
    own = facts.flow.functions(names, call)
    return bool(own) and all(
        any(_fills(facts, where, part, 1) for part in where.calls_in(function)) for where, function in own
    )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
