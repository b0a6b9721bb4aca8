"""The verbs of rules on the layouts that people write: the right text, or a reason why not."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Callable, Union

import pytest

from hvdkit.migrate import edits
from hvdkit.migrate.edits import CannotEdit
from hvdkit.migrate.edits.unnesting import open_up
from hvdkit.source.edits import Edit, Slot, apply_edits
from hvdkit.source.index.indexing import index
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Source, parse

Verb = Callable[[Names, ast.stmt], Union[Edit, Iterable[Edit]]]


def call(statement: ast.stmt) -> ast.Call:
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return statement.value


def edited(text: str, verb: Verb) -> str:
    """The text after a verb was used on its last top-level statement."""
    source = parse(Path("x.py"), text.encode())
    assert isinstance(source, Source)
    made = verb(index(source), source.tree.body[-1])
    return apply_edits(text, [made] if isinstance(made, Edit) else made)


ADD: Verb = lambda n, s: edits.add_arguments(n.source, call(s), ["k=1"])  # noqa: E731
DROP: Verb = lambda n, s: edits.drop_argument(n.source, call(s), call(s).args[0])  # noqa: E731
DROP_LAST: Verb = lambda n, s: edits.drop_argument(n.source, call(s), call(s).keywords[-1])  # noqa: E731
UNWRAP: Verb = lambda n, s: edits.unwrap(n.source, call(s), call(s).args[0])  # noqa: E731
DELETE: Verb = lambda n, s: edits.delete(n, s)  # noqa: E731
INNER: Verb = lambda n, s: edits.delete(n, s.body[0])  # type: ignore[attr-defined]  # noqa: E731
BEFORE: Verb = lambda n, s: edits.before(n.source, s, ["new"])  # noqa: E731
AFTER: Verb = lambda n, s: edits.after(n.source, s, ["new"])  # noqa: E731
BLOCK: Verb = lambda n, s: edits.after(n.source, s, ["if c:", "\tnew"])  # noqa: E731
GUARD: Verb = lambda n, s: edits.guard(n.source, [s], "c")  # noqa: E731
GUARD_INNER: Verb = lambda n, s: edits.guard(n.source, [s.body[0]], "c")  # type: ignore[attr-defined]  # noqa: E731
ONCE: Verb = lambda n, s: [*open_up(n, s, "i = 0", s.body[1:]), edits.delete(n, s.body[1])]  # type: ignore  # noqa: E731
OPEN: Verb = lambda n, s: open_up(n, s)  # type: ignore[arg-type]  # noqa: E731
START: Verb = lambda n, s: edits.at_start(n, s.body, ["new"])  # type: ignore[attr-defined]  # noqa: E731
ATTRIBUTE: Verb = lambda n, s: edits.drop_attribute(n.source, s.value)  # type: ignore[attr-defined]  # noqa: E731
SWAP: Verb = lambda n, s: edits.recast(n.source, call(s), ["g(", call(s).args[1], ", ", call(s).args[0], ")"])  # noqa: E731
KEEP: Verb = lambda n, s: edits.recast(n.source, call(s), ["g(", call(s).args[0], ")"])  # noqa: E731

WRITTEN = [
    (ADD, "f()", "f(k=1)"),
    (ADD, "f(a)", "f(a, k=1)"),
    (ADD, "f((a))", "f((a), k=1)"),
    (ADD, "f(a,)", "f(a, k=1)"),
    (ADD, "f(\n    a,  # why\n)\n", "f(\n    a,  # why\n    k=1,\n)\n"),
    (ADD, "f(\r\n\ta,\r\n)\r\n", "f(\r\n\ta,\r\n\tk=1,\r\n)\r\n"),
    (DROP, "f(a, b)", "f(b)"),
    (DROP, "f(a)", "f()"),
    (DROP_LAST, "f(a, k=(1))", "f(a)"),
    (DROP_LAST, "f(a, **k)", "f(a)"),
    (UNWRAP, "f(a, b)", "a"),
    (UNWRAP, "f(g(\n    a,\n), b)", "g(\n    a,\n)"),
    (DELETE, "a\nb  # gone\n", "a\n"),
    (DELETE, "b", "pass"),
    (INNER, "if a():\n    b\n", "if a():\n    pass\n"),
    (INNER, "if a:\n    b\nelse:\n    c\n", "if a:\n    pass\nelse:\n    c\n"),
    (INNER, "c\nif not a.b:\n    b\n", "c\n"),
    (INNER, "x\nif len(a) > 1:\n    b\n", "x\n"),
    (INNER, "while a:\n    b\n", "while a:\n    pass\n"),
    (BEFORE, "a\n", "new\na\n"),
    (BEFORE, "@d\ndef f(): pass\n", "new\n@d\ndef f(): pass\n"),
    (AFTER, "a", "a\nnew"),
    (AFTER, "a\r\n", "a\r\nnew\r\n"),
    (AFTER, "a; b\n", "a; b; new\n"),
    (GUARD_INNER, "if a:\n\tb\nfor x in y:\n    f()\n", "if a:\n\tb\nfor x in y:\n    if c:\n        f()\n"),
    (GUARD_INNER, "if a:\n    b\nfor x in y:\n\tf()\n", "if a:\n    b\nfor x in y:\n\tif c:\n\t\tf()\n"),
    (ONCE, "for i in range(n):\n    f(i)\n    g(i)\n", "i = 0\nf(i)\n"),
    (GUARD, "f(\n  a)\n", "if c:\n    f(\n      a)\n"),
    (GUARD, 'f("""x\ny""")\n', 'if c:\n    f("""x\ny""")\n'),
    (OPEN, "with a:\n    b\n\n    c  # c\n", "b\n\nc  # c\n"),
    (START, 'def f():\n    """Doc."""\n    a\n', 'def f():\n    """Doc."""\n    new\n    a\n'),
    (START, 'def f():\n    """Doc."""\n', 'def f():\n    """Doc."""\n    new\n'),
    (START, "def f():\n\ta\n", "def f():\n\tnew\n\ta\n"),
    (ATTRIBUTE, "a.b.module", "a.b"),
    (ATTRIBUTE, "(a).module", "(a)"),
    (SWAP, "f(a, b)", "g(b, a)"),
    (KEEP, "f(a, b)", "g(a)"),
]

REFUSED = [
    (DROP, "f(a,  # why\n  b)", "a comment"),
    (DROP_LAST, "f(a,  # why\n  b=1)", "a comment"),
    (UNWRAP, "f(a +\n  b)", "several lines"),
    (DELETE, "a; b\n", "shares its line"),
    (BEFORE, "a; b\n", "shares its line"),
    (BLOCK, "a; b\n", "shares its line"),
    (GUARD, "a; b\n", "shares its line"),
    (OPEN, "with a:  # why\n    b\n", "a comment"),
    (OPEN, 'with a:\n    b = """\n    """\n', "a multi-line string"),
    (ATTRIBUTE, "(a\n.module)", "a different line"),
    (SWAP, "f(a,  # why\n  b)", "a comment"),
    (KEEP, "f(a,  # why\n  b)", "a comment"),
]


@pytest.mark.parametrize(("verb", "before", "after"), WRITTEN)
def test_written(verb: Verb, before: str, after: str) -> None:
    assert edited(before, verb) == after


@pytest.mark.parametrize(("verb", "text", "reason"), REFUSED)
def test_refused_with_the_reason(verb: Verb, text: str, reason: str) -> None:
    with pytest.raises(CannotEdit, match=reason):
        edited(text, verb)


def test_what_is_inserted_at_one_place_stands_in_the_order_of_slots() -> None:
    source = parse(Path("x.py"), b"f(x)\n")
    assert isinstance(source, Source)
    (statement,) = source.tree.body
    note = edits.before(source, statement, ["# why"], Slot.NOTE)
    made = [
        *edits.wrap(source, call(statement), "g(", ")"),
        note,
        *edits.guard(source, [statement], "c"),
        edits.before(source, statement, ["new"]),
    ]
    under = Edit(note.start, note.end, "    " + note.text, Slot.NOTE)  # the engine indents it
    for order in (made, made[::-1]):
        assert source.rewritten([under if edit is note else edit for edit in order]) == (
            "new\nif c:\n    # why\n    g(f(x))\n"
        )


def test_an_argument_stands_behind_what_completes_the_one_before_it() -> None:
    source = parse(Path("x.py"), b"f(a)\n")
    assert isinstance(source, Source)
    made = call(source.tree.body[0])
    added = edits.add_arguments(source, made, ["k=1"])
    completed = edits.wrap(source, made.args[0], "", " // n")
    assert source.rewritten([added, *completed]) == "f(a // n, k=1)\n"
