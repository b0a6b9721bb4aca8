"""Files that a training writes for a person: nothing in it reads them, nor the folder that they lie in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.data.sample_code import named_by_sample
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.vocabulary import ARCHIVES
from hvdkit.migrate.facts.files.writers import Writer, handed, is_target, needed_everywhere
from hvdkit.migrate.facts.programs.reached_code import only_single, trained_by
from hvdkit.migrate.facts.write_only.texts import is_named, is_read
from hvdkit.migrate.index.names import FunctionNode, Names
from hvdkit.migrate.values.arguments import positional, received

MAX_STEPS = 4
# What makes a path of a path, and what asks, makes or tells it.
_JOINS = frozenset(
    ("os.path.join", "os.path.abspath", "os.path.expanduser", "os.path.normpath", "os.fspath", "pathlib.Path")
)
_HARMLESS = frozenset(
    ("os.makedirs", "os.mkdir", "os.path.exists", "os.path.isdir", "os.path.isfile", "os.path.basename")
)
_ASKS = frozenset(("exists", "is_dir", "is_file", "mkdir", "info", "debug"))


def kept_statement(facts: Facts, writer: Writer) -> ast.stmt | None:
    """The statement of a writer whose file is kept for a person; None where all ranks may need it.

    Its file has a name that stands nowhere else in the program, and what is read lies in other folders.
    """
    names, call, path = writer.names, writer.node, writer.path
    statement = names.statement(call)
    alone = isinstance(statement, ast.Expr) and statement.value is call
    if not alone or path is None or is_read(facts, names, call, path):
        return None
    if writer.name.startswith("shutil.copy"):
        return statement if is_named(facts, names, path) else None
    if not writer.taken or writer.name in ARCHIVES or writer.name.startswith(("shutil.", "os.")):
        return None
    if not trained_by(facts, names, call) or not only_single(facts, names):
        return None  # each rank of a distributed program may have something of its own to write
    shown = any(is_named(facts, *one) or _has_ending(one[1]) for one in _roots(facts, names, path))
    if not shown or named_by_sample(facts, names, path):
        return None
    if needed_everywhere(facts, names, call):
        return None
    return None if _folder_read(facts, names, path) else statement


def _has_ending(path: ast.expr) -> bool:
    """Whether a path ends with an ending that is written out: `f"{folder}/{epoch}.png"`."""
    texts = [part.value for part in ast.walk(path) if isinstance(part, ast.Constant)]
    return any(isinstance(text, str) and text[:1] == "." and len(text.strip(".")) > 1 for text in texts)


def _folder_read(facts: Facts, names: Names, path: ast.expr) -> bool:
    """Whether something may read the folder that a path lies in: it goes where no file is named."""
    chain = list(_roots(facts, names, path))
    texts = [part.value for _, one in chain for part in ast.walk(one) if isinstance(part, ast.Constant)]
    pieces = {piece for text in texts if isinstance(text, str) for piece in text.split("/") if piece}
    seen: set[ast.AST] = {part for _, one in chain for part in ast.walk(one)}
    mentions = [mention for at in chain for mention in _mentions(facts, *at, pieces)]
    return any(_may_read(facts, *mention, pieces, seen, 0) for mention in mentions)


def _roots(facts: Facts, names: Names, path: ast.expr) -> Iterator[tuple[Names, ast.expr]]:
    """A path and what it begins with: variables, what they were given, and the first text; each once."""
    seen: set[ast.AST] = set()
    waiting = [(names, path)]
    while waiting:
        where, part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        yield where, part
        first = _first(where, part)
        if first is not part:
            waiting.append((where, first))
        elif isinstance(part, ast.Name):
            for binding in where.bindings(part.id, part):
                if binding.kind == "assign" and binding.value is not None:
                    waiting.append((where, binding.value))
                elif binding.kind == "param":
                    waiting += ((other, one) for other, _, one in handed(facts, where, part))


def _first(names: Names, path: ast.expr) -> ast.expr:
    """What a path begins with, of those that are joined."""
    if isinstance(path, ast.Call):
        template = path.func.value if isinstance(path.func, ast.Attribute) else None
        if isinstance(template, ast.Constant) and str(template.value)[:1] != "{":
            return template  # "results/{}".format(name)
        return path.args[0] if path.args and (_joins(names, path) or _is_text(template)) else path
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Mod):
        filled = path.right.elts[0] if isinstance(path.right, ast.Tuple) else path.right
        return filled if isinstance(path.left, ast.Constant) and _begins_filled(path.left) else path.left
    if isinstance(path, ast.BinOp):
        return path.left
    if isinstance(path, ast.JoinedStr) and path.values:
        begin = path.values[0]
        return begin.value if isinstance(begin, ast.FormattedValue) else begin
    return path


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _begins_filled(template: ast.Constant) -> bool:
    return str(template.value).startswith("%")


def _joins(names: Names, call: ast.Call) -> bool:
    return getattr(call.func, "id", "") == "str" or not _JOINS.isdisjoint(names.qualified(call.func))


def _mentions(
    facts: Facts, names: Names, root: ast.expr, pieces: set[str]
) -> Iterator[tuple[Names, ast.expr]]:
    """Where the variable, the attribute or the folder of a text stands elsewhere."""
    if isinstance(root, ast.Name):
        bindings = names.bindings(root.id, root)
        yield from (
            (names, use) for use in names.uses.get(root.id, ()) if names.bindings(root.id, use) == bindings
        )
    elif isinstance(root, ast.Attribute):
        yield from ((where, use) for where in facts.files for use in where.attributes.get(root.attr, ()))
    elif isinstance(root, ast.Constant) and "/" in str(root.value):
        for where in facts.files:
            for text in where.of_kind(ast.Constant):
                if isinstance(text.value, str) and text.value.split("/")[0] in pieces:
                    yield where, text


def _may_read(
    facts: Facts, names: Names, node: ast.expr, pieces: set[str], seen: set[ast.AST], depth: int
) -> bool:
    """Whether a path goes where its folder may be read."""
    if node in seen or isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    seen.add(node)
    whole = _whole_path(names, node)
    if _elsewhere(whole, pieces):
        return False
    parent = names.parents[whole]
    if isinstance(parent, ast.keyword):
        parent = names.parents[parent]
    if isinstance(parent, ast.Assign) and all(
        isinstance(t, (ast.Name, ast.Attribute)) for t in parent.targets
    ):
        return any(
            depth == MAX_STEPS or _may_read(facts, *mention, pieces, seen, depth + 1)
            for target in parent.targets  # an item of something is not followed, as in `is_read`
            for mention in _mentions(facts, names, target, pieces)
        )
    if isinstance(parent, ast.Attribute):
        return not (parent.attr in _ASKS and isinstance(names.parents[parent], ast.Call))
    if not isinstance(parent, ast.Call):
        return not isinstance(parent, (ast.If, ast.BoolOp, ast.UnaryOp, ast.Compare))
    if is_target(names, parent, whole) or not _HARMLESS.isdisjoint(names.qualified(parent.func)):
        return False
    if getattr(parent.func, "id", "") == "print" or getattr(parent.func, "attr", "") in _ASKS:
        return False
    own = facts.flow.functions(names, parent)
    if not own or depth == MAX_STEPS:
        return True
    return any(
        _may_read(facts, where, use, pieces, seen, depth + 1)
        for where, function in own
        for name in _parameters_given(where, function, parent, whole)
        for use in where.uses.get(name, ())
        if where.function(use) is function
    )


def _parameters_given(names: Names, function: FunctionNode, call: ast.Call, path: ast.expr) -> list[str]:
    """The parameters that may hold an argument: all of them where its place is not plain."""
    order = received(names, function)
    by_name = [item.arg for item in call.keywords if item.value is path and item.arg]
    place = call.args.index(path) if path in call.args else len(order)
    if by_name or (place < len(order) and not any(isinstance(one, ast.Starred) for one in call.args)):
        return by_name or [order[place]]
    collected = (function.args.vararg, function.args.kwarg)
    return [*positional(function), *(arg.arg for arg in collected if arg is not None)]


def _whole_path(names: Names, node: ast.expr) -> ast.expr:
    """The whole of what is joined around a part of a path."""
    parent = names.parents[node]
    joins = isinstance(parent, (ast.BinOp, ast.JoinedStr, ast.FormattedValue, ast.Tuple))
    if isinstance(parent, ast.Tuple):
        joins = isinstance(names.parents[parent], ast.BinOp)
    elif isinstance(parent, ast.Call) and node in parent.args:
        formats = isinstance(parent.func, ast.Attribute) and isinstance(parent.func.value, ast.Constant)
        joins = formats or _joins(names, parent)
    elif isinstance(parent, ast.Attribute) and isinstance(node, ast.Constant):
        joins = parent.attr == "format"
    return _whole_path(names, parent) if joins and isinstance(parent, ast.expr) else node


def _elsewhere(path: ast.expr, pieces: set[str]) -> bool:
    """Whether a path has a part that the file's has not: another file, or another folder."""
    texts = [part.value for part in ast.walk(path) if isinstance(part, ast.Constant)]
    others = {p for text in texts if isinstance(text, str) for p in text.split("/") if p} - pieces
    endings = {piece.rpartition(".")[2] for piece in pieces if "." in piece}
    return any("*" not in one or ("." in one and one.rpartition(".")[2] not in endings) for one in others)
