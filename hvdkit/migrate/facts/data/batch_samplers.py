"""Batch samplers of the project's own around a sampler of torch's: what they were given, and keep."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.data.sharding import BATCH_SAMPLER
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.arguments import passed
from hvdkit.source.index.names import FunctionNode, Names

_KEPT = "sampler"  # where torch's own BatchSampler has it
_COUNTED = frozenset((_KEPT, "batch_size", "drop_last"))


def grouped(facts: Facts, loader: Loader) -> tuple[Names, ast.expr] | None:
    """The sampler that a class of the project's, which a loader has its batches from, was given.

    Only where the class derives from torch's BatchSampler, keeps what it was given as torch does, counts its
    batches by the length of that alone, and goes by this number: then ranks have as many as each other.
    """
    names, batches = loader.names, loader.batch_sampler
    if isinstance(batches, ast.Name):
        bound = names.bindings(batches.id, batches)
        batches = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
    if not isinstance(batches, ast.Call):
        return None
    for value in facts.flow.values(names, batches.func):
        if value.kind != "class" or BATCH_SAMPLER not in facts.flow.bases(value):
            continue
        for where, made in facts.flow.methods(value, "__init__"):
            parameter = _kept(where, made)
            if parameter and _counts_by_length(facts.flow.methods(value, "__len__")):
                iterated = facts.flow.methods(value, "__iter__")
                given = passed(where, made, names, batches, parameter)
                if given is not None and any(_asks_itself(*method) for method in iterated):
                    return names, given
    return None


def _kept(names: Names, made: ast.AST) -> str:
    """The parameter that `self.sampler = parameter` keeps."""
    kept = [
        part.value.id
        for part in names.walk(made)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name)
        for target in part.targets
        if isinstance(target, ast.Attribute) and target.attr == _KEPT
    ]
    return kept[0] if len(kept) == 1 else ""


def _counts_by_length(methods: list[tuple[Names, FunctionNode]]) -> bool:
    """`def __len__(self): return len(self.sampler) // self.batch_size`."""
    results = [result for names, method in methods for result in names.returns.get(method, ())]
    parts = [part for result in results for part in ast.walk(result)]
    asked = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    called = {getattr(part.func, "id", "") for part in parts if isinstance(part, ast.Call)}
    return len(results) == 1 and _KEPT in asked and asked <= _COUNTED and called == {"len"}


def _asks_itself(names: Names, method: ast.AST) -> bool:
    """Whether a method has `len(self)`."""
    calls = (call for call in names.calls_in(method) if getattr(call.func, "id", "") == "len")
    return any(getattr(call.args[0], "id", "") == "self" for call in calls if call.args)
