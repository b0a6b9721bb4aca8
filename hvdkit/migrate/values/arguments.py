"""Which expression of a call reaches which parameter: plain calls, mp.spawn, Process and partial."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

_SPAWNS = ("multiprocessing.spawn", "multiprocessing.start_processes")
_STARTS = (*_SPAWNS, "multiprocessing.Process", "functools.partial")


def argument(function: FunctionNode, call: ast.Call, parameter: str, bound: bool) -> ast.expr | None:
    """The expression that a call passes for a parameter; `bound` when Python passes self."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    order = positional(function)
    if parameter not in order:
        return None
    position = order.index(parameter) - (1 if bound else 0)
    before = call.args[: position + 1]
    if position < 0 or position >= len(call.args) or any(isinstance(arg, ast.Starred) for arg in before):
        return None
    return call.args[position]


def passed(
    names: Names, function: FunctionNode, where: Names, call: ast.Call, parameter: str
) -> ast.expr | None:
    """As `argument`, for any call that runs the function: mp.spawn and partial pass theirs on.

    `train(*params)` passes the items of a tuple that is the variable's only value.
    """
    if spawned(where, call) is not None:
        return _handed_on(where, received(names, function), call, parameter)
    bound = passes_self(names, function, where, call)
    if any(isinstance(item, ast.Starred) for item in call.args):
        items = [item for arg in call.args for item in _spread(where, arg)]
        call = ast.Call(call.func, items, call.keywords)
    return argument(function, call, parameter, bound)


def passes_self(names: Names, function: FunctionNode, where: Names, call: ast.Call) -> bool:
    """Whether Python passes self to a function: not to a static one, nor in `Base.__init__(self, x)`."""
    if received(names, function) == positional(function):
        return False
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    owner = where.class_around(call)
    bases = owner.bases if receiver is not None and owner is not None else []
    return not any(_written_alike(base, receiver) for base in bases)


def _written_alike(one: ast.expr | None, other: ast.expr | None) -> bool:
    while isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute) and one.attr == other.attr:
        one, other = one.value, other.value
    if isinstance(one, ast.Name) or isinstance(other, ast.Name):
        return getattr(one, "id", "") == getattr(other, "id", None)
    return one is not None and other is not None and ast.dump(one) == ast.dump(other)


def _spread(where: Names, arg: ast.expr) -> list[ast.expr]:
    """What one argument of a call passes: itself, or the items of the tuple behind a star."""
    if not isinstance(arg, ast.Starred) or not isinstance(arg.value, ast.Name):
        return [arg]
    bindings = where.bindings(arg.value.id, arg.value)
    if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path:
        return [arg]
    value = bindings[0].value
    return value.elts if isinstance(value, ast.Tuple) else [arg]


def collected(names: Names, node: ast.expr, by_position: bool = False) -> FunctionNode | None:
    """The function whose `**kwargs`, or `*args`, an expression is."""
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else ()
    for binding in bindings if len(bindings) == 1 else ():
        function = names.parents.get(names.parents[binding.node]) if binding.kind == "param" else None
        if isinstance(function, FUNCTIONS):
            if binding.node is (function.args.vararg if by_position else function.args.kwarg):
                return function
    return None


def default(function: FunctionNode, arg: ast.arg) -> ast.expr | None:
    """The default of a parameter."""
    args = function.args
    ordered = [*args.posonlyargs, *args.args]
    if arg in ordered:
        index = ordered.index(arg) - (len(ordered) - len(args.defaults))
        return args.defaults[index] if index >= 0 else None
    if arg in args.kwonlyargs:
        return args.kw_defaults[args.kwonlyargs.index(arg)]
    return None


def positional(function: FunctionNode) -> list[str]:
    """Names of the parameters that may be passed by position, self included."""
    return [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]


def received(names: Names, function: FunctionNode) -> list[str]:
    """Names of the parameters that a caller may pass by position: without the self that Python passes."""
    order = positional(function)
    decorators = {getattr(item, "id", "") for item in getattr(function, "decorator_list", ())}
    method = isinstance(names.parents.get(function), ast.ClassDef) and "staticmethod" not in decorators
    return order[1:] if method else order


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value that a call passes by keyword."""
    return next((item.value for item in call.keywords if item.arg == name), None)


def is_on(argument: ast.expr | None) -> bool:
    """Whether an argument is given, and not False, 0 or None."""
    return argument is not None and not (isinstance(argument, ast.Constant) and not argument.value)


def fits(function: FunctionNode, call: ast.Call) -> bool:
    """Whether a function takes the arguments of a call, and needs no more of them."""
    taken = function.args
    order = positional(function)
    if unpacks(call):
        return True
    if len(call.args) > len(order) and taken.vararg is None:
        return False
    named = {word.arg for word in call.keywords if word.arg is not None}
    if not named <= parameters(function) and taken.kwarg is None:
        return False
    optional = len(taken.defaults)
    missing = set(order[len(call.args) : len(order) - optional]) - named
    alone = {arg.arg for arg, value in zip(taken.kwonlyargs, taken.kw_defaults) if value is None}
    return not missing and alone <= named


def parameters(function: FunctionNode) -> set[str]:
    """The names that a function takes an argument by, what it collects left out."""
    return {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}


def given(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The value that a call passes for a library function's parameter, by keyword or position."""
    named = keyword(call, name)
    return call.args[position] if named is None and 0 <= position < len(call.args) else named


def attribute_asked(names: Names, call: ast.Call) -> str | None:
    """The x of `getattr(y, "x")` or `getattr(y, "x", z)`."""
    if not isinstance(call.func, ast.Name) or call.func.id != "getattr" or len(call.args) < 2:
        return None
    name = call.args[1]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    return None if names.bindings("getattr", call.func) else name.value


def is_property(function: ast.AST) -> bool:
    """Whether an attribute of a method's name is what the method returns."""
    decorators = getattr(function, "decorator_list", ())
    return any(
        getattr(d, "attr", getattr(d, "id", "")) in ("property", "cached_property") for d in decorators
    )


def unpacks(call: ast.Call) -> bool:
    """Whether a call has arguments that are not written out: f(*args), f(**options)."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def spawns(names: Names, call: ast.Call) -> bool:
    """Whether a call is mp.spawn or mp.start_processes, under whatever name."""
    return any(name.endswith(_SPAWNS) for name in names.qualified(call.func))


def spawned(names: Names, call: ast.Call) -> ast.expr | None:
    """The function that a call starts in other processes, or binds arguments to."""
    if spawns(names, call):
        return call.args[0] if call.args else keyword(call, "fn")
    qualified = names.qualified(call.func)
    if any(name.endswith("multiprocessing.Process") for name in qualified) or _is_process(call):
        return keyword(call, "target")
    if "functools.partial" in qualified and call.args:
        return call.args[0]
    return None


def _is_process(call: ast.Call) -> bool:
    """`context.Process(...)`, whatever the context is."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "Process"


def starting_calls(names: Names) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Every call that starts a function in other processes, or binds arguments to it, with that function."""
    named = (c for c, qualified in names.named_calls if any(name.endswith(_STARTS) for name in qualified))
    processes = (call for call in names.calls.get("Process", ()) if _is_process(call))
    for call in dict.fromkeys((*named, *processes)):
        target = spawned(names, call)
        if target is not None:
            yield call, target


def _handed_on(names: Names, order: list[str], call: ast.Call, parameter: str) -> ast.expr | None:
    if parameter not in order:
        return None
    position = order.index(parameter)
    if "functools.partial" in names.qualified(call.func):
        named = keyword(call, parameter)
        return named or (call.args[position + 1] if position + 1 < len(call.args) else None)
    packed = keyword(call, "args") or (call.args[1] if len(call.args) > 1 else None)
    # mp.spawn gives the process index first; Process gives its args as they are.
    index = position if keyword(call, "target") is not None else position - 1
    if isinstance(packed, (ast.Tuple, ast.List)) and 0 <= index < len(packed.elts):
        return packed.elts[index]
    return None


def is_constant(node: ast.AST, value: object) -> bool:
    """Whether an expression is this constant of Python: None, True, 0."""
    return isinstance(node, ast.Constant) and node.value is value


def head_of(root: ast.expr) -> ast.expr:
    """`a` of `a.b[0].c`."""
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return root
