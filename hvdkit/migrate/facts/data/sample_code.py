"""What runs while samples are read: in each rank for its own ones, and often in a loader's worker."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.callers import on_some_way
from hvdkit.migrate.facts.data.cut_by_rank import is_rank_share
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import keyword, passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

READS = ("__getitem__", "__getitems__")
# Methods by which data sets of graphs make the files that they find missing, and the classes that call them.
PREPARES = ("download", "process", "save")
PREPARED = frozenset(
    (
        "torch_geometric.data.Dataset",
        "torch_geometric.data.InMemoryDataset",
        "torch_geometric.data.OnDiskDataset",
        "dgl.data.DGLDataset",
        "dgl.data.DGLBuiltinDataset",
    )
)
DATASET, DOWNLOAD = "torch.utils.data.Dataset", "download"
DATASETS = (DATASET, "torch.utils.data.dataset.Dataset", "torchvision.datasets.")
TO_WORKERS = ("collate_fn", "worker_init_fn")
LAMBDAS = ("torchvision.transforms.Lambda", "torchvision.transforms.v2.Lambda")


def reads_sample(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs where samples are read, or in what is called there.

    That is the `__getitem__` of a dataset, a function that it is given, a collate_fn, and the function of a
    transforms.Lambda.
    """

    def at(where: Names, place: ast.AST) -> bool | None:
        function = where.function(place)
        if function is None:
            return False
        reads = getattr(function, "name", "") in READS and isinstance(where.parents[function], ast.ClassDef)
        given = function in _given_to_workers(facts) or function in _given_to_datasets(facts)
        return True if reads or given else None

    return on_some_way(facts, names, node, at)


def prepares_data(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs where a data set of graphs makes the files that it finds missing: its `process()`.

    They are read right afterwards, on every rank.
    """

    def at(where: Names, place: ast.AST) -> bool | None:
        function = where.function(place)
        owner = where.parents[function] if function is not None else None
        prepares = isinstance(owner, ast.ClassDef) and getattr(function, "name", "") in PREPARES
        return (
            True if prepares and isinstance(owner, ast.ClassDef) and prepared(facts, where, owner) else None
        )

    return on_some_way(facts, names, node, at)


def prepared(facts: Facts, names: Names, owner: ast.ClassDef) -> bool:
    """Whether a class of the project is a data set of PyTorch Geometric's or DGL's kind, and makes files.

    Or one that downloads itself as torchvision's do: `def __init__(self, root, download=False)`.
    """
    bases = facts.flow.bases(Value("class", owner.name, owner, names))
    if asked_to_download(facts, names, owner):
        return True
    return any(base in PREPARED for base in bases) and any(
        isinstance(part, ast.FunctionDef) and part.name in PREPARES for part in owner.body
    )


def asked_to_download(facts: Facts, names: Names, owner: ast.ClassDef) -> bool:
    """Whether a data set of the project's own downloads itself where `download` asks it to."""
    if DATASET not in facts.flow.bases(Value("class", owner.name, owner, names)):
        return False
    methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
    made = methods.get("__init__")
    return made is not None and any(
        isinstance(part, ast.If)
        and getattr(part.test, "id", "") == DOWNLOAD
        and any(getattr(call.func, "attr", "") == DOWNLOAD for call in names.calls_in(part))
        for part in (names.walk(made) if DOWNLOAD in methods else ())
    )


def named_by_sample(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether an expression is made from what a loop draws from a DataLoader, or from a rank's share.

    The number of a batch is the same on all ranks, and left out.
    """
    return _of_sample(facts, names, node, set())


def _of_sample(facts: Facts, names: Names, node: ast.AST, seen: set[ast.AST]) -> bool:
    for part in names.walk(node):
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            if binding.node in seen:
                continue
            seen.add(binding.node)
            if binding.kind == "param" and _callers_give(facts, names, binding.node, seen):
                return True
            if binding.value is None or (_counted(binding.value) and binding.path[:1] == (0,)):
                continue
            if binding.kind == "each" and any(
                not words.LOADERS.isdisjoint(facts.flow.made(names, inside))
                for inside in ast.walk(binding.value)
                if isinstance(inside, ast.expr)
            ):
                return True
            if binding.kind == "each" and is_rank_share(facts, names, binding.value):
                return True
            if binding.kind in ("assign", "each") and _of_sample(facts, names, binding.value, seen):
                return True
    return False


def _counted(iterable: ast.expr) -> bool:
    return isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "enumerate"


def _callers_give(facts: Facts, names: Names, arg: ast.AST, seen: set[ast.AST]) -> bool:
    function = names.parents[names.parents[arg]]
    if not isinstance(function, FUNCTIONS) or not isinstance(arg, ast.arg):
        return False
    sites = facts.flow.call_sites(names, function)
    given = ((where, passed(names, function, where, call, arg.arg)) for where, call in sites)
    return any(value is not None and _of_sample(facts, where, value, seen) for where, value in given)


@once
def _given_to_workers(facts: Facts) -> set[ast.AST]:
    """The functions that a loader's workers call beside the dataset's own."""
    given = [(s.names, keyword(s.node, name)) for s in facts.calls(words.LOADER) for name in TO_WORKERS]
    given += [(s.names, s.node.args[0]) for s in facts.calls(*LAMBDAS) if s.node.args]
    return {
        value.node
        for names, function in given
        if function is not None
        for value in facts.flow.values(names, function)
    }


@once
def _given_to_datasets(facts: Facts) -> set[ast.AST]:
    """The functions that the project's data sets are made with, as the one that reads an image file."""
    given: list[tuple[Names, ast.expr | None]] = []
    for names in facts.files:
        for owner in names.of_kind(ast.ClassDef):
            if not isinstance(owner, ast.ClassDef) or not is_dataset(facts, names, owner):
                continue
            for method in owner.body:
                if isinstance(method, FUNCTIONS):
                    defaults = (*method.args.defaults, *method.args.kw_defaults)
                    given += [(names, default) for default in defaults]
            made = [(where, call) for where in facts.files for call in where.calls.get(owner.name, ())]
            given += [
                (where, argument)
                for where, call in made
                for argument in (*call.args, *(item.value for item in call.keywords))
            ]
    return {
        value.node
        for names, function in given
        if isinstance(function, (ast.Name, ast.Attribute, ast.Lambda))
        for value in facts.flow.values(names, function)
        if value.kind == "function"
    }


def is_dataset(facts: Facts, names: Names, owner: ast.ClassDef) -> bool:
    """Whether a class of the project is a data set of PyTorch's."""
    bases = facts.flow.bases(Value("class", owner.name, owner, names))
    return any(base.startswith(DATASETS) for base in bases)
