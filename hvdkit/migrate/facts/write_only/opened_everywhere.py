"""Files that all ranks open and only write to, in the middle of what all of them have to do.

`with open(path, "w") as file: ...` whose block computes what is used below: the others may open os.devnull.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.collectives.different_on_every_rank import of_own_numbers
from hvdkit.migrate.facts.data.sample_code import named_by_sample
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.vocabulary import DUMPS, OPEN
from hvdkit.migrate.facts.files.writers import Writer
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.programs.reached_code import only_single, trained_by
from hvdkit.migrate.facts.write_only.texts import is_read, opened_to_closed
from hvdkit.migrate.index.names import FUNCTIONS, Names
from hvdkit.migrate.index.statements import statements_above
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.behind import parts_behind

MAX_CALLERS = 4
_WRITES = frozenset(("write", "writelines", "flush", "close"))
_TAKES = frozenset((*DUMPS, "csv.writer", "csv.DictWriter"))
_ASKS = frozenset(("exists", "isfile", "isdir", "is_file", "is_dir", "getsize", "listdir", "stat"))


@dataclass(frozen=True)
class Opened:
    """The path that is opened, and the statement after which the file is closed.

    waited: whether the others have to wait there, since a training that writes the file may read it.
    """

    names: Names
    path: ast.expr
    last: ast.stmt
    waited: bool


def opened_everywhere(facts: Facts, writer: Writer) -> Opened | None:
    """What a writer opens, where the ranks but 0 may open nothing instead; None when that is not known."""
    names, call = writer.names, _open_call(writer)
    if not only_single(facts, names) or not trained_by(facts, names, writer.node):
        return None  # ranks of a distributed program may each have something of their own to write
    if call is None or not isinstance(call.func, ast.Name) or not call.args or call.func.id != OPEN:
        return None
    mode = given(call, 1, "mode")
    if not isinstance(mode, ast.Constant) or not set(str(mode.value)) <= set("wabt"):
        return None  # `x` would find os.devnull there, and `+` reads
    if named_by_sample(facts, names, call.args[0]) or _by_item(names, call.args[0]):
        return None
    rows, file = _file(names, call)
    parts = [part for row in rows for part in names.walk(row)]
    uses = [part for part in parts if isinstance(part, ast.Name) and part.id == file]
    if (
        not uses
        or not has_rank(facts, names, rows[0])
        or not all(_only_writes(names, use) for use in uses if isinstance(use.ctx, ast.Load))
    ):
        return None
    # What an attribute holds a library may read, which is given the object.
    waited = isinstance(call.args[0], ast.Attribute) or is_read(facts, names, call, call.args[0])
    if waited and (_opened_again(names, call) or not _all_come(facts, names, rows[-1], call.args[0])):
        return None
    return Opened(names, call.args[0], rows[-1], waited)


def _by_item(names: Names, path: ast.expr) -> bool:
    """Whether a path is made of what a loop goes over, its numbers left out: of predictions, say."""
    for part in parts_behind(names, path):
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            called = getattr(getattr(binding.value, "func", None), "id", "")
            counted = called == "range" or (called == "enumerate" and binding.path[:1] == (0,))
            if binding.kind == "each" and not counted:
                return True
    return False


def _open_call(writer: Writer) -> ast.Call | None:
    """The call of open(): the writer itself, or that of the `with` around what dumps into the file."""
    if writer.name == OPEN:
        return writer.node
    target = given(writer.node, *DUMPS[writer.name]) if writer.name in DUMPS else None
    for item in writer.opened.items if writer.opened is not None else ():
        named = getattr(item.optional_vars, "id", "")
        if named and named == getattr(target, "id", None) and isinstance(item.context_expr, ast.Call):
            return item.context_expr
    return None


def _file(names: Names, call: ast.Call) -> tuple[list[ast.stmt], str]:
    """The statements from the opening to the closing of a file, and its name in them; ([], "") if unknown."""
    holder = names.parents[call]
    if isinstance(holder, ast.withitem) and isinstance(holder.optional_vars, ast.Name):
        return [names.statement(call)], holder.optional_vars.id
    row = opened_to_closed(names, call)
    if not row or not isinstance(holder, ast.Assign) or not isinstance(holder.targets[0], ast.Name):
        return [], ""
    name = holder.targets[0].id
    inside = {part for statement in row for part in names.walk(statement)}
    outside = [use for use in names.uses.get(name, ()) if names.scope(use) is names.scope(call)]
    return (row, name) if all(use in inside for use in outside) else ([], "")


def _only_writes(names: Names, use: ast.Name) -> bool:
    """Whether a use of a file writes to it: `file.write(x)`, `json.dump(x, file)`, `print(x, file=file)`."""
    parent = names.parents[use]
    if isinstance(parent, ast.Attribute):
        return parent.attr in _WRITES and isinstance(names.parents[parent], ast.Call)
    if isinstance(parent, ast.keyword):
        call = names.parents[parent]
        shown = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print"
        return parent.arg == "file" and shown
    return isinstance(parent, ast.Call) and bool(_TAKES.intersection(names.qualified(parent.func)))


def _opened_again(names: Names, call: ast.Call) -> bool:
    """Whether another open() of the file writes the same path: while a rank still reads what is there."""
    return any(
        ast.dump(other.args[0]) == ast.dump(call.args[0])
        for other in names.calls.get(OPEN, ())
        if other is not call and other.args and isinstance(mode := given(other, 1, "mode"), ast.Constant)
        if set(str(mode.value)) & set("wax")
    )


def _all_come(facts: Facts, names: Names, statement: ast.stmt, path: ast.expr, depth: int = 0) -> bool:
    """Whether all ranks come to a statement as often as each other, and to another file or round each time.

    No test around it, nor one above it that leaves, asks for a number of the rank's own, or for what lies
    on a disk; and the loops around it train, or name the file.
    """
    training = {loop.node for found in training_loops(facts).paths for loop in found.loops}
    named = {part.id for part in ast.walk(path) if isinstance(part, ast.Name)}
    child: ast.AST = statement
    for parent in names.ancestors(statement):
        if isinstance(child, ast.stmt) and any(
            _may_part(facts, names, test) for test in _leaving(names, child)
        ):
            return False
        if isinstance(parent, (ast.Try, ast.While)) and parent not in training:
            return False
        if isinstance(parent, (ast.If, ast.While)) and _may_part(facts, names, parent.test):
            return False
        if isinstance(parent, (ast.For, ast.AsyncFor)) and parent not in training:
            if named.isdisjoint(part.id for part in ast.walk(parent.target) if isinstance(part, ast.Name)):
                return False
        if isinstance(parent, FUNCTIONS):
            sites = facts.flow.call_sites(names, parent) if depth < MAX_CALLERS else []
            calls = [(where, where.statement(call), path, depth + 1) for where, call in sites]
            return bool(calls) and all(_all_come(facts, *call) for call in calls)
        child = parent
    return True


def _leaving(names: Names, statement: ast.stmt) -> Iterator[ast.expr]:
    """The tests above a statement in its block after which some turn of a loop, or a function, ends."""
    for above in statements_above(names, statement):
        if isinstance(above, ast.If) and any(
            isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in ast.walk(above)
        ):
            yield above.test


def _may_part(facts: Facts, names: Names, test: ast.expr) -> bool:
    """Whether ranks may answer a test differently."""
    asked = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in names.calls_in(test)}
    return not _ASKS.isdisjoint(asked) or of_own_numbers(facts, names, test)
