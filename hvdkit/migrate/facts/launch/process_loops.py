"""The loop that starts one process per rank, and the one that waits for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.programs.reached_code import trained_by
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Starting:
    """The loop that starts the processes, the worker's arguments, and the loop, if any, that waits for them.

    made: the statement that makes the process; keeps: those that start and keep it; ready: whether others
    above it make something ready.
    """

    loop: ast.For
    worker: ast.expr
    args: ast.Tuple | ast.List
    waiting: ast.For | None
    made: ast.stmt
    keeps: tuple[ast.stmt, ...]
    ready: bool


def starting_loop(names: Names, call: ast.Call, worker: ast.expr) -> Starting | None:
    """The usual form: a loop over range that makes, starts and keeps a process, then one that joins them.

    Python itself waits for them where nothing follows the loop.
    """
    args = keyword(call, "args")
    loop = next((parent for parent in names.ancestors(call) if isinstance(parent, ast.For)), None)
    if loop is None or not isinstance(args, (ast.Tuple, ast.List)) or not isinstance(loop.target, ast.Name):
        return None
    if not isinstance(loop.iter, ast.Call) or getattr(loop.iter.func, "id", "") != "range" or loop.orelse:
        return None
    made = names.statement(call)
    if made not in loop.body:
        return None
    above = [statement for statement in loop.body if not _belongs(statement, call)]
    if any(statement.lineno > made.lineno or not _makes_ready(statement) for statement in above):
        return None
    keeps = tuple(s for s in loop.body if s is not made and _method(s) in ("start", "append"))
    if _last(names, loop):
        return Starting(loop, worker, args, None, made, keeps, bool(above))
    following = edits.following(names, loop)
    waits = isinstance(following, ast.For) and len(following.body) == 1 and not following.orelse
    if not waits or not isinstance(following, ast.For) or _method(following.body[0]) != "join":
        return None
    return Starting(loop, worker, args, following, made, keeps, bool(above))


def kept_in(names: Names, starting: Starting) -> ast.Assign | None:
    """The statement `processes = []` above, where that list is for the two loops alone."""
    loops = {starting.loop, starting.waiting}
    for statement in edits.block(names, starting.loop):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            (target, *more) = statement.targets
            if isinstance(target, ast.Name) and not (more or statement.value.elts):
                uses = [use for use in names.uses.get(target.id, ()) if use is not target]
                if uses and all(loops.intersection(names.ancestors(use)) for use in uses):
                    return statement
    return None


def python_again(facts: Facts) -> Iterator[Site]:
    """The calls that start Python again in a program that trains on several ranks."""
    for site in facts.calls("subprocess."):
        if _starts_python_again(site) and _in_training(facts, site):
            yield site


def _last(names: Names, statement: ast.stmt) -> bool:
    """Whether nothing follows a statement of the module, or of its main guard."""
    parent = names.parents[statement]
    if edits.following(names, statement) is not None or not isinstance(parent, (ast.If, ast.Module)):
        return False
    return isinstance(parent, ast.Module) or _last(names, parent)


def _belongs(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement of the loop does nothing but make, start or keep the process."""
    if isinstance(statement, ast.Assign):
        return statement.value is call
    return _method(statement) in ("start", "append")


def _makes_ready(statement: ast.stmt) -> bool:
    """Whether a statement only sets or prints something for the process: `args.local_rank = rank`."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Name, ast.Attribute)) for target in statement.targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print"


def _method(statement: ast.stmt) -> str:
    """The name of the method that an expression statement calls."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return function.attr if isinstance(function, ast.Attribute) else ""
    return ""


def _in_training(facts: Facts, site: Site) -> bool:
    """Whether a program that trains on several ranks comes to a call."""
    return any(
        program.kind == "ddp" and training_paths(facts, program)
        for program in trained_by(facts, site.names, site.node)
    )


def _starts_python_again(site: Site) -> bool:
    """Whether Python is started with a list of arguments that is not written here, in a loop."""
    names, call = site.names, site.node
    command = call.args[0] if call.args else call
    python = any("sys.executable" in names.qualified(part) for part in ast.walk(command))
    written = any(isinstance(part, ast.Constant) for part in ast.walk(command))
    return python and not written and names.in_loop(call)
