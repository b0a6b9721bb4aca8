"""What a name in a configuration says, looked up in a module: also by functions that are given the module.

`def init_obj(self, name, module, *args): return getattr(module, self[name]["type"])(*args)`, called as
`config.init_obj("optimizer", torch.optim, parameters)` in the many projects that began with pytorch-template.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.migrate.values.arguments import given, positional
from hvdkit.source.index.names import FunctionNode, Names

OPTIMIZER = "torch.optim.?"  # the name of what is made from torch.optim


def module_asked(names: Names, function: FunctionNode) -> str | None:
    """The parameter of such a function that is the module; None where it is no such function."""
    results = names.returns.get(function, ())
    made = results[0] if len(results) == 1 else None
    asks = made.func if isinstance(made, ast.Call) else None
    if not isinstance(asks, ast.Call) or not isinstance(asks.func, ast.Name) or asks.func.id != "getattr":
        return None
    module = asks.args[0] if asks.args else None
    if not isinstance(module, ast.Name) or [b.kind for b in names.bindings(module.id, module)] != ["param"]:
        return None
    return module.id


def handed_on(names: Names, function: FunctionNode, call: ast.Call) -> ast.expr | None:
    """The first argument of a call that such a function's `*args` hand on to what it makes."""
    bound = isinstance(names.parents.get(function), ast.ClassDef)
    position = len(positional(function)) - bound
    return call.args[position] if function.args.vararg and position < len(call.args) else None


def looked_up_in(node: ast.expr | None) -> ast.expr | None:
    """The module of `module.__dict__[name]`, `vars(module)[name]` or `getattr(module, name)`."""
    looks = "getattr"
    if isinstance(node, ast.Subscript):
        node, looks = node.value, "vars"
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == looks and node.args:
        return node.args[0]
    return None


def name_looked_up(node: ast.expr) -> str | None:
    """The constant name that a lookup asks a module for; None for a computed one."""
    text = _text_looked_up(node)
    return str(text.value) if isinstance(text, ast.Constant) else None


def may_look_up(node: ast.expr, name: str) -> bool:
    """Whether such an expression may be what a module has under a name: its text is that, or begins so."""
    text = _text_looked_up(node)
    if isinstance(text, ast.Constant):
        return text.value == name
    return text is not None and name.startswith(_beginning(text))


def _text_looked_up(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Subscript):
        return node.slice
    return given(node, 1, "name") if isinstance(node, ast.Call) else None


def calls_by_text(
    files: Iterable[Names], names: Names, function: FunctionNode
) -> Iterator[tuple[Names, ast.Call]]:
    """Calls that may be a function's by a text that begins as its name: `getattr(own, "start_%s" % kind)(x)`.

    files: those that import the function's file.
    """
    if names.parents[function] is not names.source.tree:
        return
    for where in files:
        for asks in where.calls.get("getattr", ()):
            call = where.parents[asks]
            if isinstance(call, ast.Call) and call.func is asks and len(asks.args) > 1:
                beginning = _beginning(asks.args[1])
                if beginning and getattr(function, "name", "").startswith(beginning):
                    yield where, call


def _beginning(text: ast.expr) -> str:
    """What a text begins with that is put together from a constant and something else; "" for any other."""
    if isinstance(text, ast.JoinedStr) and text.values:
        return _constant(text.values[0])
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Mod):
        return _constant(text.left).partition("%")[0]
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return _constant(text.left) or _beginning(text.left)
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        return _constant(text.func.value).partition("{")[0]
    return ""


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def calls_with_optimizers(names: Names) -> Iterator[ast.Call]:
    """Calls that are given torch.optim itself."""
    for alias in names.imported("torch"):
        for whole, qualified in names.readings(alias):
            parent = names.parents[whole]
            if qualified == "torch.optim" and isinstance(parent, ast.Call) and whole in parent.args:
                yield parent
