"""Which framework Keras 3 runs on, where a program or a file beside it says so."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from hvdkit.files import read_text
from hvdkit.migrate.facts.code.environment import is_environment
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.source.index.names import Names

SET_BACKEND = ("keras.config.set_backend", "keras.backend.set_backend")
# `ENV KERAS_BACKEND torch`, `KERAS_BACKEND: "torch"`, `export KERAS_BACKEND=torch`, keras.json's "backend".
BESIDE = re.compile(
    r"""[^#]*?(?:KERAS_BACKEND|"backend")["']?\s*[:=\s]\s*["']?(?:\$\{KERAS_BACKEND:-)?(\w+)"""
)
SCRIPT = re.compile(r"([\w.-]+\.py)\b")  # a command for another script says nothing of this one
SUFFIXES = (".sh", ".bash", ".sbatch", ".slurm", ".env", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".mk")
NAMES = ("Makefile", "Dockerfile", ".env", ".envrc", "keras.json")
MAX_BYTES = 1_000_000


TENSORFLOW = "tensorflow"


def other_backends(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.AST, str, str]]:
    """What says that a program's Keras runs on something else than TensorFlow, or leaves it open.

    File, place, a sentence, and the backend: "" where it is not known.
    """
    said = list(_said(facts, program))
    if not said:
        return list(_only_torch(program))
    return [
        (names, node, f"{what} to {_consequence(backend)}", backend)
        for names, node, what, backend in said
        if backend != TENSORFLOW
    ]


def _consequence(backend: str) -> str:
    if not backend:
        return "the backend is unknown here: Keras may or may not run on TensorFlow"
    return f"{backend}: Keras runs on that, and not on TensorFlow"


def _only_torch(program: ProgramFacts) -> Iterator[tuple[Names, ast.AST, str, str]]:
    """Where a program imports Keras itself, if it imports PyTorch too, and TensorFlow nowhere."""
    files = sorted(program.files, key=lambda names: names.source.path)
    tops = {top for names in files for top in ("torch", TENSORFLOW, "tf_keras") if names.imported(top)}
    if tops != {"torch"}:
        return
    for names in files:
        for statement in names.source.tree.body:
            if isinstance(statement, ast.Import):
                modules = [alias.name for alias in statement.names]
            else:
                modules = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
            if any(module.partition(".")[0] == "keras" for module in modules):
                what = (
                    "the program imports Keras and PyTorch, and not TensorFlow: its Keras backend is unknown"
                )
                yield names, statement, what, ""
                return


def _said(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.AST, str, str]]:
    """File, place, what says it, and the backend: "" where it is set to what cannot be known."""
    for names in program.files:
        for constant in names.texts.get(words.BACKEND, ()):
            value = _given(names, constant)
            if value is not None:
                for backend in _texts(facts, names, value):
                    yield names, constant, f"{words.BACKEND} is set", backend
        for site in facts.calls(*SET_BACKEND):
            if site.names is names and site.node.args:
                for backend in _texts(facts, names, site.node.args[0]):
                    yield names, site.node, f"{site.name} is called", backend
    entry = program.entry
    for path, line, backend in _beside(entry):
        yield entry, entry.source.tree.body[0], f"{words.BACKEND} is set at {path}:{line}", backend


def _given(names: Names, key: ast.Constant) -> ast.expr | None:
    """What the environment's KERAS_BACKEND is set to by the statement that holds the key."""
    parent = names.parents[key]
    above = names.parents.get(parent)
    if isinstance(parent, ast.Subscript) and is_environment(names, parent.value):
        if isinstance(above, ast.Assign) and parent in above.targets:
            return above.value
    if isinstance(parent, ast.Call) and len(parent.args) > 1 and parent.args[0] is key:
        function = parent.func
        sets = isinstance(function, ast.Attribute) and function.attr == "setdefault"
        if sets and isinstance(function, ast.Attribute) and is_environment(names, function.value):
            return parent.args[1]
        if "os.putenv" in names.qualified(function):
            return parent.args[1]
    if isinstance(parent, ast.Dict) and isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
        if above.func.attr == "update" and is_environment(names, above.func.value):
            return next((value for entry, value in zip(parent.keys, parent.values) if entry is key), None)
    return None


def _texts(facts: Facts, names: Names, node: ast.expr) -> list[str]:
    values = facts.flow.values(names, node)
    texts = [value.node.value for value in values if isinstance(value.node, ast.Constant)]
    known = [text for text in texts if isinstance(text, str)]
    return known if known and len(known) == len(values) else [*known, ""]


def _beside(names: Names) -> Iterator[tuple[str, int, str]]:
    """What the commands and settings in a script's folder say: file, line, backend."""
    folder = names.source.path.parent
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        wanted = file.suffix in SUFFIXES or file.name in NAMES
        if wanted:
            for number, line in enumerate(_lines(file), start=1):
                match = BESIDE.match(line)
                scripts = SCRIPT.findall(line)
                if match is not None and (not scripts or names.source.path.name in scripts):
                    yield os.path.relpath(file), number, match.group(1)


def _lines(file: Path) -> list[str]:
    """Those of a file; none where it is too long, or cannot be read."""
    try:
        return read_text(file, MAX_BYTES).splitlines()
    except OSError:
        return []
