"""Calls that fetch or unpack data into files that all processes of a host share, and what is around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import FUNCTIONS, Names

FUNCTIONS_THAT_FETCH = (
    "keras.utils.get_file",
    "keras.datasets.",
    "tensorflow_datasets.load",
    "urllib.request.urlretrieve",
    "wget.download",
    "gdown.download",
)
# Methods -> what makes the objects that have them.
METHODS = {
    "download_and_prepare": ("tensorflow_datasets.builder",),
    "extractall": ("tarfile.open", "zipfile.ZipFile"),
}
# What all ranks do together, or leaves a statement before its end: not all might pass a wait around it.
TOGETHER = frozenset(("fit", "fit_generator", "train_on_batch", "apply_gradients", "run", "reduce"))
LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.FunctionDef, ast.ClassDef)


def downloads(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Every call that may download or unpack."""
    for site in facts.calls(*FUNCTIONS_THAT_FETCH):
        asked = keyword(site.node, "download")
        if not (isinstance(asked, ast.Constant) and asked.value is False):
            yield site.names, site.node
    for method, makers in METHODS.items():
        for names, call, receiver in facts.methods(method):
            if any(value.name in makers for value in facts.flow.values(names, receiver)):
                yield names, call


def whole(facts: Facts, names: Names, call: ast.Call) -> ast.stmt | None:
    """The statement around a download that every rank passes once; None where none is known.

    A test or a loop around it is part of it: the first process makes the file that another's test asks for.
    """
    statement: ast.stmt = names.statement(call)
    guard = main_guard(names)
    child: ast.stmt = statement
    for parent in names.ancestors(call):
        if isinstance(parent, ast.Lambda):
            return None
        if isinstance(parent, (*FUNCTIONS, ast.ClassDef)) or parent is guard:
            break
        if isinstance(parent, ast.stmt):
            if not isinstance(parent, (ast.With, ast.AsyncWith)) and parent is not statement:
                child = parent
    return child if _is_quiet(facts, names, child) else None


def _is_quiet(facts: Facts, names: Names, statement: ast.stmt) -> bool:
    """Whether a statement only runs on, and calls nothing that ranks do together."""
    return not any(
        isinstance(node, LEAVES)
        or (
            isinstance(node, ast.Call)
            and (getattr(node.func, "attr", "") in TOGETHER or facts.flow.functions(names, node))
        )
        for node in ast.walk(statement)
    )
