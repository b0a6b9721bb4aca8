"""Making the index of one file: scopes, bindings, calls, stores and returns.

One pass over the tree, no recursion (a chain of a thousand additions must not end it).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Callable

from hvdkit.source.index.names import (
    ANY_KEY,
    COMPREHENSIONS,
    FUNCTIONS,
    INSIDE,
    Binding,
    FunctionNode,
    Names,
    Scope,
    children,
)
from hvdkit.source.read.source import Source

_BLOCKS = frozenset((*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef))


def index(source: Source) -> Names:
    """Read one file's scopes, bindings, calls, attribute stores and returns."""
    names = Names(source, Scope(source.tree, None))
    names.scopes[source.tree] = names.within[source.tree] = names.module
    parents, within, uses = names.parents, names.within, names.uses
    order, of_kind = names.nodes, names.kinds
    stack: list[ast.AST] = [source.tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        order.append(node)
        of_kind[kind].append(node)
        if type(node) is ast.Name:  # every third node
            uses[node.id].append(node)
            continue
        scope = within[node]
        handler, backwards = _KINDS[kind]
        if handler is not None:
            handler(names, scope, node)
        inner = scope
        if kind in _BLOCKS:
            inner = names.scopes[node] = Scope(node, scope)
            if isinstance(node, FUNCTIONS):
                _parameters(inner, node)
        # Last in, first out: pushed backwards, nodes are met in the order of the file, so that a `global`
        # is known before the assignments that it changes.
        for name in backwards:
            value = getattr(node, name)
            for child in value[::-1] if type(value) is list else (value,):
                if isinstance(child, ast.AST):
                    parents[child] = node
                    within[child] = inner
                    stack.append(child)
        if inner is not scope:
            within.update(dict.fromkeys(_around(node), scope))
        elif kind is ast.arguments and scope.parent is not None:  # its function's scope is the inner one
            within.update(dict.fromkeys(_defaults(node), scope.parent))
    return names


def _around(node: ast.AST) -> Sequence[ast.AST]:
    """The parts of a scope's node that are evaluated in the scope around it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return (*node.decorator_list, *([node.returns] if node.returns else ()))
    if isinstance(node, ast.ClassDef):
        return [child for child in children(node) if child not in node.body]
    return ()


def _defaults(node: ast.AST) -> list[ast.expr]:
    """What parameters are without an argument: `def f(read=read)` has the `read` from around it."""
    assert isinstance(node, ast.arguments)
    return [*node.defaults, *(default for default in node.kw_defaults if default is not None)]


def _parameters(scope: Scope, node: FunctionNode) -> None:
    args = node.args
    extra = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *extra):
        scope.names[arg.arg].append(Binding("param", arg))


def _target(scope: Scope, names: Names, target: ast.expr, binding: Binding) -> None:
    """Record a value flowing into an assignment target of any shape."""
    if isinstance(target, ast.Name):
        _bind(scope, target.id, Binding(binding.kind, target, binding.value, binding.path))
    elif isinstance(target, ast.Attribute):
        names.stores[target.attr].append(
            (target.value, Binding(binding.kind, target, binding.value, binding.path))
        )
    elif isinstance(target, ast.Subscript):
        key = target.slice.value if isinstance(target.slice, ast.Constant) else ANY_KEY
        names.stores[f"[{key!r}]"].append(
            (target.value, Binding(binding.kind, target, binding.value, binding.path))
        )
    elif isinstance(target, ast.Starred):
        _target(scope, names, target.value, Binding("other", target))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for position, element in enumerate(target.elts):
            path = (*binding.path, position)
            _target(scope, names, element, Binding(binding.kind, element, binding.value, path))


def _bind(scope: Scope, name: str, binding: Binding) -> None:
    where = scope.elsewhere.get(name)
    if where == "global":
        while scope.parent is not None:
            scope = scope.parent
    elif where == "nonlocal":
        scope = (scope.parent and scope.parent.owner(name)) or scope
    scope.names[name].append(binding)


def _import(names: Names, scope: Scope, node: ast.Import) -> None:
    for alias in node.names:
        if alias.asname:
            _imported(names, scope, alias.asname, Binding("import", alias, qualified=alias.name))
        else:
            top = alias.name.partition(".")[0]
            _imported(names, scope, top, Binding("import", alias, qualified=top))


def _import_from(names: Names, scope: Scope, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            names.stars.append(module)
        else:
            joint = "" if module.endswith(".") or not module else "."
            name = alias.asname or alias.name
            binding = Binding("import", alias, qualified=f"{module}{joint}{alias.name}")
            _imported(names, scope, name, binding)


def _imported(names: Names, scope: Scope, name: str, binding: Binding) -> None:
    names.imports.append((name, binding))
    _bind(scope, name, binding)


def _assign(names: Names, scope: Scope, node: ast.Assign) -> None:
    for target in node.targets:
        _target(scope, names, target, Binding("assign", target, node.value))


def _ann_assign(names: Names, scope: Scope, node: ast.AnnAssign) -> None:
    if node.value is not None:
        _target(scope, names, node.target, Binding("assign", node.target, node.value))


def _aug_assign(names: Names, scope: Scope, node: ast.AugAssign) -> None:
    _target(scope, names, node.target, Binding("other", node.target, node.value))


def _named(names: Names, scope: Scope, node: ast.NamedExpr) -> None:
    while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    _target(scope, names, node.target, Binding("assign", node.target, node.value))


def _for(names: Names, scope: Scope, node: ast.For) -> None:
    names.loops.append(node)
    _target(scope, names, node.target, Binding("each", node.target, node.iter))


def _while(names: Names, scope: Scope, node: ast.While) -> None:
    names.loops.append(node)


def _with(names: Names, scope: Scope, node: ast.With) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            _target(scope, names, item.optional_vars, Binding("with", item.optional_vars, item.context_expr))


def _def(names: Names, scope: Scope, node: ast.FunctionDef) -> None:
    _bind(scope, node.name, Binding("def", node))


def _class(names: Names, scope: Scope, node: ast.ClassDef) -> None:
    _bind(scope, node.name, Binding("class", node))


def _global(names: Names, scope: Scope, node: ast.Global) -> None:
    scope.elsewhere.update(dict.fromkeys(node.names, "global"))


def _nonlocal(names: Names, scope: Scope, node: ast.Nonlocal) -> None:
    scope.elsewhere.update(dict.fromkeys(node.names, "nonlocal"))


def _except(names: Names, scope: Scope, node: ast.ExceptHandler) -> None:
    if node.name:
        _bind(scope, node.name, Binding("other", node))


def _call(names: Names, scope: Scope, node: ast.Call) -> None:
    function = node.func
    if isinstance(function, ast.Attribute):
        names.calls[function.attr].append(node)
    elif isinstance(function, ast.Name):
        names.calls[function.id].append(node)
    else:
        names.calls[""].append(node)  # what is called was itself computed: getattr(module, name)(...)


def _attribute(names: Names, scope: Scope, node: ast.Attribute) -> None:
    names.attributes[node.attr].append(node)


def _constant(names: Names, scope: Scope, node: ast.Constant) -> None:
    if isinstance(node.value, str) and node.value.isidentifier():
        names.texts[node.value].append(node)


def _return(names: Names, scope: Scope, node: ast.Return) -> None:
    function = names.function(node)
    if node.value is not None and function is not None:
        names.returns[function].append(node.value)


def _lambda(names: Names, scope: Scope, node: ast.Lambda) -> None:
    names.returns[node].append(node.body)


def _comprehension(names: Names, scope: Scope, node: ast.comprehension) -> None:
    _target(scope, names, node.target, Binding("each", node.target, node.iter))


_HANDLERS: dict[type, Callable[[Names, Scope, Any], None]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.NamedExpr: _named,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _def,
    ast.AsyncFunctionDef: _def,
    ast.ClassDef: _class,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.ExceptHandler: _except,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Constant: _constant,
    ast.comprehension: _comprehension,
    ast.Return: _return,
    ast.Lambda: _lambda,
}
# Every node of a file passes here, so what is known of its kind is looked up, not asked.
_KINDS = {kind: (_HANDLERS.get(kind), inside[::-1]) for kind, inside in INSIDE.items()}
