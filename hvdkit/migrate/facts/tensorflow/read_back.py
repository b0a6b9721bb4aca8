"""Where a TensorFlow program reads what rank 0 has written in the same run, with no wait in between."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.files.writers import own_file
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.mentions import tensorflow_callers
from hvdkit.migrate.facts.keras.model_calls import is_model, keras_models
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, migrating_fits
from hvdkit.migrate.facts.tensorflow.saving_calls import saves
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.binding_order import reaching
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Library functions that read a file -> position and name of the argument that says where.
FUNCTIONS = {
    "keras.models.load_model": (0, "filepath"),
    "keras.saving.load_model": (0, "filepath"),
    "tensorflow.saved_model.load": (0, "export_dir"),
    "numpy.load": (0, "file"),
    "PIL.Image.open": (0, "fp"),
    "cv2.imread": (0, "filename"),
}
CHECKPOINTS = ("tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager")
LATEST = "latest_checkpoint"
WRITER = "keras.callbacks.ModelCheckpoint"
# Calls in which all ranks wait for each other.
MEETINGS = tuple(
    f"{module}.{name}"
    for module in words.MODULES
    for name in (
        "allgather",
        "allgather_object",
        "allreduce",
        "average",
        "broadcast",
        "broadcast_object",
        "broadcast_variables",
    )
)
MAX_STEPS = 6


@dataclass(frozen=True)
class ReadBack:
    """A read of what rank 0 writes. written: the call above, in its function, that leads to the write."""

    names: Names
    node: ast.Call
    written: ast.Call


@dataclass(frozen=True)
class _File:
    """A call that writes or reads. path: where, spelled out; latest: the newest of a checkpoint's folder."""

    names: Names
    node: ast.Call
    path: str
    latest: bool
    checkpoints: frozenset[Value]


def read_back(facts: Facts) -> Iterator[ReadBack]:
    """Every read, on all ranks, of what a call further up has written on rank 0 alone."""
    written = [*_saved(facts), *_by_callbacks(facts)]
    for read in _read(facts) if written else ():
        if where_runs(facts, read.names, read.node) is not Where.ALL:
            continue
        places = [
            call
            for file in written
            if _is_same(file, read)
            for call in _above(facts, read, file.names, file.node, ())
        ]
        last = max(places, key=lambda call: call.lineno, default=None)
        if last is not None and not _meet(facts, read, last):
            yield ReadBack(read.names, read.node, last)


def _saved(facts: Facts) -> Iterator[_File]:
    for saved in saves(facts):
        if saved.names in migrating_files(facts) and saved.where is not Where.ONE_PER_NODE:
            receiver = saved.node.func.value if isinstance(saved.node.func, ast.Attribute) else None
            path = "" if saved.target is None else spelled(saved.names, saved.target)
            yield _File(saved.names, saved.node, path, False, _checkpoints(facts, saved.names, receiver))


def _by_callbacks(facts: Facts) -> Iterator[_File]:
    """What fit writes through a ModelCheckpoint that stands above it."""
    for site in facts.calls(WRITER):
        target = given(site.node, 0, "filepath")
        if target is None or site.names not in migrating_files(facts) or own_file(facts, site.names, target):
            continue
        for fit in migrating_fits(facts):
            same = fit.names.function(fit.node) is site.names.function(site.node)
            if fit.names is site.names and same and fit.node.lineno >= site.node.lineno:
                yield _File(fit.names, fit.node, spelled(site.names, target), False, frozenset())


def _read(facts: Facts) -> Iterator[_File]:
    for site in facts.calls(*FUNCTIONS):
        yield from _at(site.names, site.node, given(site.node, *FUNCTIONS[site.name]), frozenset())
    for names, call, receiver in facts.methods("load_weights"):
        if any(is_model(facts, v) or v in keras_models(facts) for v in facts.flow.values(names, receiver)):
            yield from _at(names, call, given(call, 0, "filepath"), frozenset())
    for method in ("restore", "read"):
        for names, call, receiver in facts.methods(method):
            found = _checkpoints(facts, names, receiver)
            if found:
                yield from _at(names, call, given(call, 0, "save_path"), found)


def _at(names: Names, call: ast.Call, target: ast.expr | None, found: frozenset[Value]) -> Iterator[_File]:
    if target is not None:
        folder = _folder(names, target)
        yield _File(names, call, spelled(names, folder or target), folder is not None, found)


def _folder(names: Names, target: ast.expr) -> ast.expr | None:
    """The d of `tf.train.latest_checkpoint(d)`, the m of `m.latest_checkpoint`; also through a variable."""
    if isinstance(target, ast.Name):
        bound = reaching(names, target.id, target)
        value = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        return None if value is None or isinstance(value, ast.Name) else _folder(names, value)
    if isinstance(target, ast.Attribute) and target.attr == LATEST:
        return target.value
    latest = isinstance(target, ast.Call) and getattr(target.func, "attr", "") == LATEST
    return given(target, 0, "checkpoint_dir") if latest and isinstance(target, ast.Call) else None


def _checkpoints(facts: Facts, names: Names, receiver: ast.expr | None) -> frozenset[Value]:
    """The Checkpoint objects that a receiver is, or that it manages."""
    found: set[Value] = set()
    for value in facts.flow.values(names, receiver) if receiver is not None else ():
        if value.name == CHECKPOINTS[0]:
            found.add(value)
        elif value.name == CHECKPOINTS[1] and isinstance(value.node, ast.Call):
            found |= _checkpoints(facts, value.names, given(value.node, 0, "checkpoint"))
    return frozenset(found)


def _is_same(written: _File, read: _File) -> bool:
    if read.latest and (written.checkpoints & read.checkpoints):
        return True
    if read.latest:
        return bool(written.path) and (read.path in written.path or written.path in read.path)
    return bool(written.path) and written.path == read.path


def spelled(names: Names, node: object, steps: int = 0) -> str:
    """An expression with the variables that have one value replaced by it: equal for equal paths."""
    if isinstance(node, ast.Name):
        bound = reaching(names, node.id, node)
        value = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        if value is not None and not bound[0].path and steps < MAX_STEPS:
            return spelled(names, value, steps + 1)
        return f"{node.id}{[id(binding) for binding in bound]}"
    if isinstance(node, ast.AST):
        parts = [spelled(names, part, steps) for field, part in ast.iter_fields(node) if field != "ctx"]
        return f"{type(node).__name__}({', '.join(parts)})"
    if isinstance(node, list):
        return ", ".join(spelled(names, part, steps) for part in node)
    return repr(node)


def _above(
    facts: Facts, read: _File, names: Names, node: ast.Call, seen: tuple[ast.AST, ...]
) -> Iterator[ast.Call]:
    """The calls above a read, in its function, that are a write or lead to it through callers."""
    function = names.function(node)
    if names is read.names and function is read.names.function(read.node):
        if node.lineno < read.node.lineno and not _apart(names, node, read.node):
            yield node
    elif function is not None and function not in seen and len(seen) < MAX_STEPS:
        for where, call in tensorflow_callers(facts, names, function):
            yield from _above(facts, read, where, call, (*seen, function))


def _apart(names: Names, one: ast.AST, other: ast.AST) -> bool:
    """Whether one run cannot pass two nodes: by the branches of `if` that they stand in."""
    there = list(_conditions(names, other))
    return any(_exclude(here, asked) for here in _conditions(names, one) for asked in there)


def _conditions(names: Names, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests around a node, and how each came out."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test:
            yield parent.test, child in parent.body
        child = parent


def _exclude(one: tuple[ast.expr, bool], other: tuple[ast.expr, bool]) -> bool:
    """Whether two outcomes of tests contradict each other: `x` and not x, `x == 1` and `x == 2`."""
    (first, held), (second, holds) = one, other
    if ast.dump(first) == ast.dump(second):
        return held is not holds
    if not (held and holds and isinstance(first, ast.Compare) and isinstance(second, ast.Compare)):
        return False
    equal = all(len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) for test in (first, second))
    values = [test.comparators[0] for test in (first, second)]
    return (
        equal
        and ast.dump(first.left) == ast.dump(second.left)
        and all(isinstance(value, ast.Constant) for value in values)
        and ast.dump(values[0]) != ast.dump(values[1])
    )


def _meet(facts: Facts, read: _File, written: ast.Call) -> bool:
    """Whether all ranks wait for each other between a write and a read."""
    function = read.names.function(read.node)
    calls = [(site.names, site.node) for site in facts.calls(*MEETINGS)]
    calls += [(fit.names, fit.node) for fit in migrating_fits(facts)]
    return any(
        names is read.names
        and names.function(call) is function
        and written.lineno < call.lineno < read.node.lineno
        and where_runs(facts, names, call) is Where.ALL
        for names, call in calls
    )
