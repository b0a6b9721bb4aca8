"""Files that are written."""

from __future__ import annotations

import ast

from hvdkit.job.columns import Value, columns
from hvdkit.job.machine import Machine
from hvdkit.job.record import Written
from hvdkit.job.terms import Term, within

NOWHERE = ("/dev/null", "os.devnull")
WRITING = frozenset("wax+")
FLAGS = frozenset(("os.O_WRONLY", "os.O_RDWR", "os.O_CREAT"))


def is_writing(mode: Value | None) -> bool:
    """Whether a mode of open(), or the flags of os.open(), are known to write."""
    return mode is not None and any(
        (part.kind == "const" and bool(WRITING & {*str(part.parts[0])}))
        or (part.kind == "library" and part.parts[0] in FLAGS)
        for term in {*columns(mode)}
        for part in (within(term) if term.kind == "op" else (term,))
    )


def write_file(machine: Machine, path: Value, site: ast.AST) -> None:
    """Record a file that is written."""
    if any(
        term.kind == "made" or str(term.parts[:1][0] if term.parts else "") in NOWHERE
        for term in columns(path)
    ):
        return
    machine.record.written.append(Written(machine.place(site), path, machine.active, machine.under))


def is_path(term: Term) -> bool:
    """Whether a term is a path of pathlib's, or one below it."""
    while term.kind == "op" and term.parts[0] == "Div":
        term = term.inner[0]
    return term.kind == "call" and str(term.inner[0].parts[0]).startswith("pathlib.")
