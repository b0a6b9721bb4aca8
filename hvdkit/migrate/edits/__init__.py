"""The toolbox of rules: one-line verbs that turn a node and some text into edits.

Tokens are looked at only around an edit. Where the layout makes an edit unsafe (two statements on a line, a
body on its header's line), `CannotEdit` is raised and the rule's finding is left to you.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Union

from hvdkit.migrate.plan import Made, Obstacle
from hvdkit.source.edits import Edit, Place, Slot
from hvdkit.source.index.names import Names
from hvdkit.source.index.statements import block_of
from hvdkit.source.read.source import Source

_COMMENT = re.compile(r"#[^\r\n]*")
# A line that cannot follow another behind a semicolon: indented, a comment, or the head of a block.
_NO_PLAIN_LINE = re.compile(r"^\s|^#|:$")
_REST = re.compile(r"[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n|$)")


class CannotEdit(Exception):
    """The layout around a node does not allow the edit; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.obstacle = Obstacle(reason)


class SharesLine(CannotEdit):
    """A statement has no lines of its own: `if ddp: model = DDP(model)`, `a = 1; b = 2`."""

    def __init__(self, source: Source, statement: ast.stmt) -> None:
        super().__init__("the statement shares its line with another")
        if source.notebook is None and not source.stopped:
            self.obstacle = Obstacle(str(self), Place(source.path, 0, statement))


# What makes the edits of a finding: one of the verbs below, or a rule's own function.
Maker = Callable[..., Union[Edit, Iterable[Edit]]]


def attempt(make: Maker, *args: Any) -> Made:
    """What comes of making edits: the edits, or what keeps them from being made."""
    try:
        made = make(*args)
        return (made,) if isinstance(made, Edit) else tuple(made)  # a generator may raise only now
    except CannotEdit as error:
        return error.obstacle


# Questions in a test that change nothing.
_ASKS = {"len", "torch.cuda.device_count", "torch.cuda.is_available"}


def replace(source: Source, node: ast.AST, text: str) -> Edit:
    """The node, rewritten as text. Raises CannotEdit."""
    _placed(node)
    return Edit(source.start(node), source.end(node), text)


def wrap(source: Source, node: ast.AST, before: str, after: str) -> list[Edit]:
    """Text before and after a node. Raises CannotEdit."""
    _placed(node)
    return [
        Edit(source.start(node), source.start(node), before, Slot.OPENING),
        Edit(source.end(node), source.end(node), after, Slot.CLOSING),
    ]


def appended(source: Source, node: ast.expr, text: str) -> list[Edit]:
    """An expression with more text behind it, in parentheses where it needs them."""
    plain = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    return wrap(source, node, "" if plain else "(", text if plain else f"){text}")


def times(source: Source, node: ast.expr, factor: str) -> list[Edit]:
    """An expression as `node * factor`: a product and a quotient need no parentheses for that."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return wrap(source, node, "", f" * {factor}")
    return appended(source, node, f" * {factor}")


def unwrap(source: Source, node: ast.AST, keep: ast.AST) -> list[Edit]:
    """Everything of a node gone but one node inside it, which other edits may still change."""
    _placed(node)
    keep_start, keep_end = _with_parentheses(source, keep, source.start(node), source.end(node))
    return [Edit(source.start(node), keep_start, ""), Edit(keep_end, source.end(node), "")]


def recast(
    source: Source, node: ast.AST, parts: Sequence[str | ast.expr], above: ast.stmt | None = None
) -> list[Edit]:
    """A node rewritten as text around some of its own parts, which other edits may still change.

    Parts in another order than the source's are copied as text, where an edit inside them would be lost.
    Comments that would go move above a statement, if one is given.
    Raises CannotEdit where a comment would go, or where a copied part makes calls, which may be edited.
    """
    kept = [part for part in parts if not isinstance(part, str)]
    places = [source.start(part) for part in kept]
    if places != sorted(set(places)):
        if "#" in source.segment(node):
            raise CannotEdit("there is a comment between the arguments")
        if any(isinstance(inner, ast.Call) for part in kept for inner in ast.walk(part)):
            raise CannotEdit("its arguments are in a different order than Horovod's, and contain calls")
        text = "".join(part if isinstance(part, str) else source.segment(part) for part in parts)
        return [replace(source, node, text)]
    found: list[Edit] = []
    position, text = source.start(node), ""
    for part in parts:
        if isinstance(part, str):
            text += part
        else:
            found.append(Edit(position, source.start(part), text, Slot.OPENING))
            position, text = source.end(part), ""
    found.append(Edit(position, source.end(node), text))
    comments = [text for edit in found for text in _COMMENT.findall(source.text[edit.start : edit.end])]
    if comments and above is None:
        raise CannotEdit("there is a comment between the arguments")
    return [*found, before(source, above, comments, Slot.NOTE)] if comments and above is not None else found


def drop_attribute(source: Source, node: ast.Attribute) -> Edit:
    """`a.b.module` without its last attribute."""
    _placed(node)
    end = source.end(node.value)
    between = source.text[end : source.end(node)]
    if "\n" in between or "\r" in between:
        raise CannotEdit("the attribute is on a different line than its object")
    closing = re.match(r"(\s*\))*", between)
    return Edit(end + (closing.end() if closing else 0), source.end(node), "")


def own_lines(source: Source, statement: ast.stmt) -> tuple[int, int]:
    """Offsets of the whole lines that a statement fills. Raises SharesLine when it shares them."""
    start, end = source.start(statement), source.end(statement)
    line_start = source.starts[source.line_at(start) - 1]
    rest = _REST.match(source.text, end)
    if rest is None or source.text[line_start:start].strip(" \t\f"):
        raise SharesLine(source, statement)
    return line_start, rest.end()


def before(source: Source, statement: ast.stmt, lines: Sequence[str], slot: Slot = Slot.LINES) -> Edit:
    """Lines inserted above a statement, indented like it."""
    start, _ = own_lines(source, statement)
    return Edit(start, start, written(source, statement, lines), slot)


def after(source: Source, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Lines inserted below a statement, indented like it; behind it where it shares its line with another."""
    try:
        _, end = own_lines(source, statement)
    except CannotEdit:
        if hasattr(statement, "body") or not lines or any(_NO_PLAIN_LINE.search(line) for line in lines):
            raise
        end = source.end(statement)
        return Edit(end, end, "".join(f"; {line}" for line in lines), Slot.LINES)
    text = written(source, statement, lines)
    if end == len(source.text) and not source.text.endswith(("\n", "\r")):
        text = source.newline + text.removesuffix(source.newline) if text else text
    return Edit(end, end, text, Slot.LINES)


def at_start(names: Names, body: Sequence[ast.stmt], lines: Sequence[str]) -> Edit:
    """Lines inserted at the start of a body, below its docstring."""
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_text and isinstance(first.value.value, str):  # type: ignore[attr-defined]
        return before(names.source, body[1], lines) if len(body) > 1 else after(names.source, first, lines)
    return before(names.source, first, lines)


def delete(names: Names, statement: ast.stmt) -> Edit:
    """A statement gone with its lines; `pass` in its place where the block would be empty.

    A `try:` around it alone goes with it: nothing is left that could fail. So does an `if` that only looks at
    values.
    """
    source = names.source
    start, end = own_lines(source, statement)
    if only_statement(names, statement):
        around = names.parents[statement]
        if getattr(around, "body", None) == [statement] and _may_go(names, around):
            return delete(names, around)  # type: ignore[arg-type]
        return Edit(source.start(statement), source.end(statement), "pass")
    return Edit(start, end, "")


def _may_go(names: Names, around: ast.AST) -> bool:
    """Whether a `try:` or `if` without its body does nothing."""
    if isinstance(around, ast.Try):
        return not around.orelse + around.finalbody
    if not isinstance(around, ast.If) or around.orelse:
        return False
    return not names.source.is_elif(around) and all(_only_asks(names, part) for part in ast.walk(around.test))


def _only_asks(names: Names, part: ast.AST) -> bool:
    if isinstance(part, ast.Call):
        return bool(_ASKS.intersection((*names.qualified(part.func), getattr(part.func, "id", ""))))
    expressions = (ast.Name, ast.Attribute, ast.Constant, ast.BoolOp, ast.UnaryOp, ast.Compare)
    return isinstance(part, (*expressions, ast.expr_context, ast.boolop, ast.unaryop, ast.cmpop))


def only_statement(names: Names, statement: ast.stmt) -> bool:
    """Whether a statement is its block's only one."""
    return len(block(names, statement)) == 1


def block(names: Names, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds a statement."""
    found = block_of(names, statement)
    if not found:
        raise CannotEdit("the statement is not in a block")
    return found


def following(names: Names, statement: ast.stmt) -> ast.stmt | None:
    """The next statement of the same block."""
    body = block(names, statement)
    position = body.index(statement)
    return body[position + 1] if position + 1 < len(body) else None


def preceding(names: Names, statement: ast.stmt) -> ast.stmt | None:
    """The statement before one in the same block."""
    body = block(names, statement)
    position = body.index(statement)
    return body[position - 1] if position else None


def rows(names: Names, statements: Iterable[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements that follow one another in a block (and cell) taken together, in the order of the file."""
    found: list[list[ast.stmt]] = []
    for statement in sorted(statements, key=names.source.start):
        last = found[-1][-1] if found else None
        if last and following(names, last) is statement and not names.source.cells_part(last, statement):
            found[-1].append(statement)
        else:
            found.append([statement])
    return found


def guard(source: Source, row: Sequence[ast.stmt], condition: str) -> list[Edit]:
    """Statements that follow one another put under `if condition:`."""
    return enclose(source, row, f"if {condition}:", Slot.GUARD)


def enclose(source: Source, row: Sequence[ast.stmt], header: str, slot: Slot = Slot.BLOCK) -> list[Edit]:
    """Statements that follow one another put under a header line (`with x:`), indented one unit deeper."""
    start, _ = own_lines(source, row[0])
    _, end = own_lines(source, row[-1])
    first, last = source.line_at(start), source.line_at(max(start, end - 1))
    inside_string = set().union(*(source.lines_inside_strings(statement) for statement in row))
    indent = source.indent(first)
    edits = [Edit(start, start, f"{indent}{header}{source.newline}", slot)]
    for number in range(first, last + 1):
        if number not in inside_string and source.line(number).strip():
            # Behind the old indentation, so that a line put above the statement cannot come between.
            place = source.starts[number - 1] + len(source.indent(number))
            edits.append(Edit(place, place, source.unit_in(indent), Slot.INDENT))
    return edits


def add_arguments(source: Source, call: ast.Call, arguments: Sequence[str]) -> Edit:
    """Keyword arguments added at the end of a call, in the style of its layout."""
    _placed(call)
    inside = source.text[source.end(call.func) : source.end(call)]
    close = source.end(call) - 1
    last = max((source.end(node) for node in (*call.args, *(k.value for k in call.keywords))), default=0)
    if not last:
        return Edit(close, close, ", ".join(arguments), Slot.ARGUMENT)
    last = _skip_closing(source, last, close)
    rest = source.text[last:close]
    if "," in re.sub(r"#[^\r\n]*", "", rest):  # a trailing comma: keep the layout, and the comma
        comma = last + rest.index(",")
        line = source.line_at(last)
        if "\n" in inside and source.line_at(close) != line:
            indent = source.indent(source.line_at(source.start(_last_argument(source, call))))
            end = source.starts[line] if line < len(source.starts) else close
            added = "".join(f"{indent}{argument},{source.newline}" for argument in arguments)
            return Edit(end, end, added, Slot.ARGUMENT)
        return Edit(comma + 1, comma + 1, " " + ", ".join(arguments), Slot.ARGUMENT)
    return Edit(last, last, ", " + ", ".join(arguments), Slot.ARGUMENT)


def drop_argument(source: Source, call: ast.Call, argument: ast.AST) -> Edit:
    """An argument (positional node or ast.keyword) removed with its comma."""
    items = sorted([*call.args, *call.keywords], key=lambda item: source.start(item))
    position = items.index(argument)
    start, end = source.start(argument), source.end(argument)
    close = source.end(call) - 1
    end = _skip_closing(source, end, close)
    if position + 1 < len(items):
        following_start = source.start(items[position + 1])
        between = source.text[end:following_start]
        if "#" in between:
            raise CannotEdit("there is a comment between the arguments")
        return Edit(start, following_start, "")
    if position > 0:
        previous = items[position - 1]
        before_end = _skip_closing(source, source.end(previous), start)
        if "#" in source.text[before_end:start]:
            raise CannotEdit("there is a comment between the arguments")
        return Edit(before_end, end, "")
    return Edit(start, end, "")


def _placed(node: ast.AST) -> None:
    """Raise where it is not known where a node lies: some f-strings, on Python 3.9."""
    if getattr(node, "unplaced", False):
        raise CannotEdit("it is part of an f-string whose parts cannot be told apart")


def _last_argument(source: Source, call: ast.Call) -> ast.AST:
    return max((*call.args, *call.keywords), key=source.end)


def _skip_closing(source: Source, position: int, limit: int) -> int:
    """Past the parentheses that close around the last argument, which the tree does not show."""
    match = re.compile(r"(\s*\))*").match(source.text, position, limit)
    return match.end() if match else position


def _with_parentheses(source: Source, node: ast.AST, low: int, high: int) -> tuple[int, int]:
    """A node's range with the parentheses that a multi-line node needs once its call is gone."""
    start, end = source.start(node), source.end(node)
    if "\n" not in source.text[start:end]:
        return start, end
    if isinstance(node, (ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Tuple)):
        head = source.text[start : source.end(node.func)] if isinstance(node, ast.Call) else ""
        if "\n" not in head:
            return start, end
    raise CannotEdit("the wrapped expression spans several lines")


def written(source: Source, statement: ast.stmt, lines: Sequence[str]) -> str:
    """Lines indented as a statement is, a tab being one unit of the file more."""
    indent = source.indent(source.line_at(source.start(statement)))
    text = textwrap.indent("\n".join(lines).replace("\t", source.unit_in(indent)), indent) + "\n"
    return text.replace("\n", source.newline)
