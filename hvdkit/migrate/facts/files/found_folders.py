"""Folders that a function names by what it finds in a folder, such as the next number, and then makes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from hvdkit.migrate.values.behind import parts_behind
from hvdkit.source.index.names import FUNCTIONS, Names
from hvdkit.source.index.statements import statements_below

LISTS = frozenset(("os.listdir", "os.scandir", "glob.glob", "glob.iglob"))
METHODS = frozenset(("iterdir", "glob", "rglob"))
MAKERS = frozenset(("os.makedirs", "os.mkdir"))
PATH_QUESTIONS = {"exists", "is_dir", "is_file"}
QUESTIONS = frozenset(("os.path.exists", "os.path.isdir", "os.path.isfile"))


def found_names(names: Names, inside: ast.AST) -> Iterator[ast.Assign]:
    """The assignments of names that are made from what is in a folder, for a folder that is made below.

    inside: the function, or the file's tree, where both stand.
    """
    made = {text for call in names.calls_in(inside) for text in _about(names, call, MAKERS, {"mkdir"})}
    for statement in names.walk(inside):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if ast.unparse(statement.targets[0]) in made and _lists(names, statement.value):
                yield statement


def free_names(names: Names) -> Iterator[tuple[ast.While, list[str]]]:
    """The loops that look for a name that is not taken, and the variables that say which it is.

    `while os.path.exists(f"run{n}"): n += 1`
    """
    for loop in names.of_kind(ast.While):
        if not isinstance(loop, ast.While) or names.in_loop(loop):
            continue
        asks = any(
            True
            for call in ast.walk(loop.test)
            if isinstance(call, ast.Call)
            for _ in _about(names, call, QUESTIONS, PATH_QUESTIONS)
        )
        changed = [
            part.id
            for statement in loop.body
            for part in names.walk(statement)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        waits = any(name.endswith(".sleep") for c in names.calls_in(loop) for name in names.qualified(c.func))
        if asks and changed and not waits:
            yield loop, list(dict.fromkeys(changed))


def is_free(names: Names, call: ast.Call, path: ast.expr) -> bool:
    """Whether a path is made from a name that a loop above a call, in the same function, found to be free."""
    function = names.function(call)
    found = {
        variable
        for loop, variables in free_names(names)
        if names.function(loop) is function and loop.lineno < call.lineno
        for variable in variables
    }
    return bool(found) and _made_of(names, function or names.source.tree, path, found)


def _made_of(names: Names, inside: ast.AST, path: ast.expr, found: set[str]) -> bool:
    """Whether one of some variables is in an expression, or in what is assigned to a part of it."""
    assigned: dict[str, list[ast.expr]] = defaultdict(list)
    for statement in (part for part in names.walk(inside) if isinstance(part, ast.Assign)):
        for target in statement.targets:
            assigned[ast.unparse(target)].append(statement.value)
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        inner = [part for part in ast.walk(waiting.pop()) if isinstance(part, (ast.Name, ast.Attribute))]
        fresh = {ast.unparse(part) for part in inner} - seen
        seen |= fresh
        waiting += (value for part in fresh for value in assigned[part])
    return bool(seen & found)


def deciding_statement(names: Names, statement: ast.stmt) -> ast.stmt:
    """An assignment, or the outermost test around it that asks what is in a folder."""
    found = statement
    for parent in names.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and _lists(names, parent.test):
            found = parent
    return found


def is_told(names: Names, place: ast.stmt) -> bool:
    """Whether rank 0 tells the others already."""
    return any(_tells(names, statement) for statement in (place, *statements_below(names, place)))


def _tells(names: Names, statement: ast.stmt) -> bool:
    return any(getattr(call.func, "attr", "") == "broadcast_object" for call in names.calls_in(statement))


def _lists(names: Names, node: ast.expr) -> bool:
    """Whether a value is made from the contents of a folder."""
    for part in parts_behind(names, node):
        if isinstance(part, ast.Call):
            method = getattr(part.func, "attr", "") in METHODS and not names.qualified(part.func)
            if method or LISTS & set(names.qualified(part.func)):
                return True
    return False


def asks_whether_there(names: Names, test: ast.expr, variable: str) -> bool:
    """Whether a test asks for the folder itself."""
    calls = (part for part in ast.walk(test) if isinstance(part, ast.Call))
    return any(variable in _about(names, call, QUESTIONS, PATH_QUESTIONS) for call in calls)


def _about(names: Names, call: ast.Call, functions: frozenset[str], methods: set[str]) -> Iterator[str]:
    """The path, as it is written, that one of os's functions or of a Path's methods is about."""
    if call.args and functions & set(names.qualified(call.func)):
        yield ast.unparse(call.args[0])
    elif (
        isinstance(call.func, ast.Attribute) and call.func.attr in methods and not names.qualified(call.func)
    ):
        yield ast.unparse(call.func.value)
