"""Statements that only write what they make into a file that nothing reads.

`with open(log, "a") as f: f.write(...)`, the row from `f = open(log, "a")` to `f.close()`, and
`json.dump(what, open(path, "w"))`.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.vocabulary import DUMPS
from hvdkit.migrate.facts.files.writers import Writer, handed, is_target, path_and_mode
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.keras.vocabulary import KINDS
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in, trained_by
from hvdkit.source.index.names import Names
from hvdkit.source.index.statements import statements_above

MAX_CALLEES = 3
MAX_CALLERS = 3
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
    *("close", "flush", "tell", "write", "writeheader", "writelines", "writerow", "writerows"),
    *("cpu", "format", "get", "get_default", "isoformat", "item", "items", "join", "keys", "read", "replace"),
    *("size", "strftime", "strip", "tolist", "values"),
}
_MODULES = ("csv.", "datetime.", "json.", "math.", "os.path.", "pickle.dump", "pprint.", "time.", "yaml.")
_EXISTS = {"os.path.exists", "os.path.isfile"}
_ASKS = ("exists", "is_file")  # of a Path
_TELLS = ("print", "format", "info")


def text_block(facts: Facts, writer: Writer) -> list[ast.stmt]:
    """The statements around a writer that may be left out on the other ranks; [] when that is not known."""
    names = writer.names
    if not _trainings(facts, names, writer.node) or not has_rank(facts, names, names.statement(writer.node)):
        return []
    block = writer.opened or next((p for p in names.ancestors(writer.node) if isinstance(p, ast.stmt)), None)
    row: list[ast.stmt]
    if isinstance(block, ast.With):
        row, body = [block], block.body
        opens: list[ast.expr] = [part.context_expr for part in block.items]
    else:
        row = opened_to_closed(names, writer.node)
        body, opens = row[1:], [writer.node]
        if not row:
            row = body = _dumped(names, writer.node)
    paths = [path_and_mode(names, call)[0] if isinstance(call, ast.Call) else None for call in opens]
    if not row or None in paths:
        return []
    if not all(_tells(facts, names, statement, 0) for statement in body):
        return []
    if any(isinstance(part, ast.Return) for statement in body for part in ast.walk(statement)):
        return []
    if not all(_stays_inside(names, row, name) for name in _bound(row)):
        return []
    return [] if any(path and is_read(facts, names, writer.node, path) for path in paths) else row


def _trainings(facts: Facts, names: Names, node: ast.AST) -> list[ProgramFacts]:
    """The programs that train on ranks, with PyTorch or TensorFlow, and come to a node."""
    others = [program for program in programs_of(facts) if program.kind in KINDS]
    return trained_by(facts, names, node) + [p for p in others if runs_in(facts, p, names, node)]


def opened_to_closed(names: Names, call: ast.Call) -> list[ast.stmt]:
    """`file = open(path, "w")` and what follows in its block, up to `file.close()`."""
    opened = names.parents[call]
    if not isinstance(opened, ast.Assign) or not isinstance(opened.targets[0], ast.Name):
        return []
    below = edits.block(names, opened)
    below = below[below.index(opened) :]
    last = next((i for i, each in enumerate(below) if _closes(each, opened.targets[0].id)), -1)
    return below[: last + 1] if len(opened.targets) == 1 else []


def _dumped(names: Names, call: ast.Call) -> list[ast.stmt]:
    """`json.dump(what, open(path, "w"))`, which nobody closes."""
    dump, statement = names.parents[call], names.statement(call)
    dumps = isinstance(dump, ast.Call) and not DUMPS.keys().isdisjoint(names.qualified(dump.func))
    return [statement] if dumps and isinstance(statement, ast.Expr) and statement.value is dump else []


def _closes(statement: ast.stmt, file: str) -> bool:
    """`file.close()`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) and not call.args and not call.keywords else None
    closes = isinstance(method, ast.Attribute) and method.attr == "close"
    return closes and isinstance(method.value, ast.Name) and method.value.id == file  # type: ignore[union-attr]


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


def _bound(row: list[ast.stmt]) -> set[str]:
    parts = [part for statement in row for part in ast.walk(statement)]
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _stays_inside(names: Names, row: list[ast.stmt], name: str) -> bool:
    """Whether what the row calls `name` is used in it alone: elsewhere the name is bound again first."""
    owner = names.scope(row[0]).owner(name)
    inside = {part for statement in row for part in names.walk(statement)}
    return all(
        use in inside or _bound_above(names, use, name, row)
        for use in names.uses.get(name, ())
        if isinstance(use.ctx, ast.Load) and names.scope(use).owner(name) is owner
    )


def _bound_above(names: Names, use: ast.Name, name: str, row: list[ast.stmt]) -> bool:
    """Whether a name is bound by the `with` or `for` around its use, or above it in a block around it."""
    child: ast.AST = use
    for parent in names.ancestors(use):
        targets: list[ast.expr | None] = []
        if isinstance(parent, ast.With):
            targets += [item.optional_vars for item in parent.items]
        elif isinstance(parent, ast.For):
            targets.append(parent.target)
        if isinstance(child, ast.stmt) and not isinstance(parent, (ast.Module, ast.FunctionDef)):
            for statement in statements_above(names, child):
                if isinstance(statement, ast.Assign) and statement not in row:
                    targets += statement.targets
        if any(_binds(target, name) for target in targets if target is not None):
            return True
        child = parent
    return False


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(target))


def is_read(facts: Facts, names: Names, writer: ast.AST, path: ast.expr, depth: int = 0) -> bool:
    """Whether a training that writes a file may read it.

    Its name, or a text that its path is made of, stands in another call.
    """
    made_of = [path]
    mentions: list[tuple[Names, ast.expr]] = []
    if isinstance(path, ast.Name):
        bindings = names.bindings(path.id, path)
        made_of += [binding.value for binding in bindings if binding.value is not None]
        uses = names.uses.get(path.id, ())
        mentions += [(names, use) for use in uses if names.bindings(path.id, use) == bindings]
        given = [one for binding in bindings if binding.kind == "param" for one in handed(facts, names, path)]
        if given and (depth == MAX_CALLERS or any(is_read(facts, *one, depth + 1) for one in given)):
            return True
    elif isinstance(path, ast.Attribute):
        mentions += [(where, use) for where in facts.files for use in where.attributes.get(path.attr, ())]
    made_of += _constants_given(facts, names, path)
    inside = {part for expression in made_of for part in ast.walk(expression)}
    words = {part.value for part in inside if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    texts = {_base(text) for text in words if "." in _base(text).strip(".")}
    endings = set() if texts else {text for text in words if text.startswith(".")}
    written = _dotted(facts)
    mentions += [place for text in sorted(texts) for place in written.get(text, ())]
    mentions += [
        (where, text)
        for ending in sorted(endings)
        for where, text in written.get(ending, ())
        if any(isinstance(parent, ast.Call) for parent in where.ancestors(text))
    ]
    reads = [
        (where, node)
        for where, node in mentions
        if node not in inside
        and not isinstance(getattr(node, "ctx", None), ast.Store)
        and _reads(where, node)
    ]
    return bool(reads) and any(
        any(program in _trainings(facts, *read) for read in reads)
        for program in _trainings(facts, names, writer)
    )


def _constants_given(facts: Facts, names: Names, path: ast.expr) -> list[ast.expr]:
    """The texts that parameters in a path, and in what its variables are made of, are given."""
    found: list[ast.expr] = []
    for part in ast.walk(path):
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            if binding.kind == "param" and isinstance(part, ast.Name):
                handed_on = [one for _, _, one in handed(facts, names, part)]
                found += [one for one in handed_on if isinstance(one, ast.Constant)]
    return found


def _reads(names: Names, node: ast.expr) -> bool:
    """Whether a path goes anywhere else than into a call that writes there, asks for it or prints it."""
    inside: ast.AST = node
    for call in names.ancestors(node):
        below, inside = inside, call
        if not isinstance(call, ast.Call) or _fills_in(call, node):
            continue
        if is_target(names, call, below.value if isinstance(below, ast.keyword) else below):
            return False
        path, mode = path_and_mode(names, call)
        if path is not None and node in (path, *ast.walk(path)):
            return not (isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax"))
        method = call.func if isinstance(call.func, ast.Attribute) and call.func.value is node else None
        if set(names.qualified(call.func)) & _EXISTS or getattr(method, "attr", "") in _ASKS:
            return False
        if (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")) in _TELLS:
            return False
        if not any(name.startswith("os.path.") for name in names.qualified(call.func)):
            return True
    return True


def _fills_in(call: ast.Call, node: ast.expr) -> bool:
    """Whether a text is what is filled in: `"test_{}.gold".format(number)` is still a path."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "format" and call.func.value is node


@once
def _dotted(facts: Facts) -> dict[str, list[tuple[Names, ast.Constant]]]:
    """Every text of the project with a dot in it, by what names a file in it, with its places."""
    found: dict[str, list[tuple[Names, ast.Constant]]] = defaultdict(list)
    for names in facts.files:
        for text in names.of_kind(ast.Constant):
            if isinstance(text.value, str) and "." in text.value:
                found[_base(text.value)].append((names, text))
    return found


def _base(path: str) -> str:
    """The name of a file, of a text that may have folders above it: `output + "/dev.gold"`."""
    return path.rpartition("/")[2]
