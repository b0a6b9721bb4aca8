"""Blocks that only write text into a file that nothing reads: `with open(log, "a") as f: f.write(...)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate import edits
from hvdkit.migrate.facts.writers import OPEN, Writer
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

MAX_CALLEES = 3
_STATEMENTS = (ast.Expr, ast.Assign, ast.For, ast.If, ast.Pass, ast.Return)
# What makes a text of values, and writes it.
_BUILTINS = {
    *(
        "dict",
        "enumerate",
        "float",
        "format",
        "getattr",
        "hasattr",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
    ),
    *(
        "min",
        "open",
        "print",
        "range",
        "repr",
        "round",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "vars",
        "zip",
    ),
}
_METHODS = {
    *("flush", "write", "writeheader", "writelines", "writerow", "writerows"),
    *("cpu", "format", "get", "isoformat", "item", "items", "join", "keys", "read", "replace", "strftime"),
    *("strip", "tolist", "values"),
}
_MODULES = ("csv.", "datetime.", "json.", "math.", "os.path.", "pprint.", "time.", "yaml.")
_EXISTS = {"os.path.exists", "os.path.isfile"}
_TELLS = ("print", "format", "info")


def text_block(facts: Facts, writer: Writer) -> ast.With | None:
    """The `with open(...)` of a writer, where the whole block may be left out on the other ranks."""
    names = writer.names
    item = names.parents.get(writer.node)
    block = writer.opened or names.parents.get(item) if isinstance(item, ast.withitem) else writer.opened
    if not isinstance(block, ast.With):
        return None
    opens = [part.context_expr for part in block.items]
    if not all(isinstance(call, ast.Call) and _is_open(call) for call in opens):
        return None
    if not all(_tells(facts, names, statement, 0) for statement in block.body):
        return None
    if not all(_stays_inside(names, block, name) for name in _bound(block)):
        return None
    paths = [call.args[0] for call in opens if isinstance(call, ast.Call) and call.args]
    return None if any(_is_read(facts, names, path) for path in paths) else block


def _is_open(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == OPEN


def _tells(facts: Facts, names: Names, statement: ast.stmt, depth: int) -> bool:
    """Whether a statement computes texts and writes them, and nothing that other ranks have to do."""
    parts = names.walk(statement)
    if any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in parts):
        return False
    if not all(isinstance(part, _STATEMENTS) for part in parts if isinstance(part, ast.stmt)):
        return False
    stored = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    plain = all(isinstance(part, (ast.Name, ast.Tuple, ast.List)) for part in stored)
    return plain and all(_makes_text(facts, names, call, depth) for call in names.calls_in(statement))


def _makes_text(facts: Facts, names: Names, call: ast.Call, depth: int) -> bool:
    own = facts.flow.functions(names, call)
    if own:
        return depth < MAX_CALLEES and all(
            isinstance(function, ast.FunctionDef)
            and all(_tells(facts, where, statement, depth + 1) for statement in function.body)
            for where, function in own
        )
    qualified = names.qualified(call.func)
    if qualified:
        return all(name.startswith(_MODULES) for name in qualified)
    if isinstance(call.func, ast.Name):
        return call.func.id in _BUILTINS and not names.bindings(call.func.id, call)
    return isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS


def _bound(block: ast.With) -> set[str]:
    return {
        part.id for part in ast.walk(block) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def _stays_inside(names: Names, block: ast.With, name: str) -> bool:
    """Whether what the block calls `name` is used in it alone: elsewhere the name is bound again first."""
    owner = names.scope(block).owner(name)
    return all(
        _bound_above(names, use, name)
        for use in names.uses.get(name, ())
        if isinstance(use.ctx, ast.Load) and names.scope(use).owner(name) is owner
    )


def _bound_above(names: Names, use: ast.Name, name: str) -> bool:
    """Whether a name is bound by the `with` or `for` around its use, or above it in a block around it."""
    child: ast.AST = use
    for parent in names.ancestors(use):
        targets: list[ast.expr | None] = []
        if isinstance(parent, ast.With):
            targets += [item.optional_vars for item in parent.items]
        elif isinstance(parent, ast.For):
            targets.append(parent.target)
        if isinstance(child, ast.stmt) and not isinstance(parent, (ast.Module, ast.FunctionDef)):
            above = edits.block(names, child)
            for statement in above[: above.index(child)]:
                targets += statement.targets if isinstance(statement, ast.Assign) else []
        if any(_binds(target, name) for target in targets if target is not None):
            return True
        child = parent
    return False


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(target))


def _is_read(facts: Facts, names: Names, path: ast.expr) -> bool:
    """Whether a file may be read: its name, or a text that its path is made of, stands in another call."""
    made_of = [path]
    mentions: list[tuple[Names, ast.expr]] = []
    if isinstance(path, ast.Name):
        bindings = names.bindings(path.id, path)
        made_of += [binding.value for binding in bindings if binding.value is not None]
        uses = names.uses.get(path.id, ())
        mentions += [(names, use) for use in uses if names.bindings(path.id, use) == bindings]
    elif isinstance(path, ast.Attribute):
        mentions += [(where, use) for where in facts.files for use in where.attributes.get(path.attr, ())]
    inside = {part for expression in made_of for part in ast.walk(expression)}
    texts = {part.value for part in inside if isinstance(part, ast.Constant) and _is_file_name(part.value)}
    for where in facts.files:
        mentions += [(where, text) for text in where.of_kind(ast.Constant) if text.value in texts]
    return any(
        _reads(where, node)
        for where, node in mentions
        if node not in inside and not isinstance(getattr(node, "ctx", None), ast.Store)
    )


def _is_file_name(text: object) -> bool:
    return isinstance(text, str) and "." in text.strip(".")


def _reads(names: Names, node: ast.expr) -> bool:
    """Whether a path goes anywhere else than into a call that writes there, asks for it or prints it."""
    for call in names.ancestors(node):
        if not isinstance(call, ast.Call):
            continue
        if _is_open(call):
            mode = call.args[1] if len(call.args) > 1 else None
            return not (isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax"))
        if set(names.qualified(call.func)) & _EXISTS:
            return False
        if (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")) in _TELLS:
            return False
        if not any(name.startswith("os.path.") for name in names.qualified(call.func)):
            return True
    return True
