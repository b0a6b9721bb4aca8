"""Random splits of a data set that every process makes by its own random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.values.arguments import given, unpacks

GENERATOR = "generator=torch.Generator().manual_seed(0)"
# function -> position and name of the argument that fixes its random numbers, and what to give
SPLITS = {
    "sklearn.model_selection.train_test_split": (-1, "random_state", "random_state=0"),
    "torch.utils.data.random_split": (2, "generator", GENERATOR),
}

# What cuts the nodes or edges of a graph in parts, by torch's random numbers.
GRAPH_SPLITS = (
    *(f"torch_geometric.transforms.{name}" for name in ("RandomNodeSplit", "RandomLinkSplit")),
    "torch_geometric.utils.train_test_split_edges",
)
ORDERS = ("torch.randperm", "numpy.random.permutation")


def unseeded_splits(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Site, str]]:
    """The splits of a program that sets no seed anywhere, and the argument that makes them the same."""
    if _seeds(program):
        return
    for site in facts.calls(*SPLITS):
        position, parameter, text = SPLITS[site.name]
        call = site.node
        said = any(keyword.arg in ("shuffle", parameter) for keyword in call.keywords)
        if (
            site.names in program.files
            and not unpacks(call)
            and not said
            and given(call, position, parameter) is None
        ):
            yield site, text


def unseeded_shuffles(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call]]:
    """PyTorch Geometric's shuffles and splits, whose parts are trained on and held back, without a seed."""
    if _seeds(program):
        return
    yield from ((s.names, s.node) for s in facts.calls(*GRAPH_SPLITS) if s.names in program.files)
    for names, call, receiver in facts.methods("shuffle"):
        made = facts.flow.values(names, receiver) if names in program.files else frozenset()
        if any(value.name.startswith("torch_geometric.datasets.") for value in made):
            yield names, call


def unseeded_orders(facts: Facts, program: ProgramFacts) -> Iterator[Site]:
    """Random orders that are cut in two without a seed: `order = torch.randperm(n)`, and its parts."""
    if _seeds(program):
        return
    for site in facts.calls(*ORDERS):
        statement = site.names.statement(site.node)
        bound = statement.targets[0] if isinstance(statement, ast.Assign) else None
        told = any(keyword.arg == "generator" for keyword in site.node.keywords)
        if site.names in program.files and isinstance(bound, ast.Name) and not told:
            if not _in_loop(facts, site.names, statement) and _cut_in_two(site.names, bound):
                yield site


def _in_loop(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node, or its function's call, runs in a loop: an order of each epoch, or of each test."""
    if names.in_loop(node):
        return True
    function = names.function(node)
    sites = facts.flow.call_sites(names, function) if isinstance(function, ast.FunctionDef) else []
    return any(where.in_loop(call) for where, call in sites)


def _cut_in_two(names: Names, bound: ast.Name) -> bool:
    """Whether the function of a variable takes the head of what it holds, and a part behind it."""
    cuts = [
        names.parents[use].slice  # type: ignore[attr-defined]
        for use in names.uses.get(bound.id, ())
        if isinstance(names.parents[use], ast.Subscript) and names.function(use) is names.function(bound)
    ]
    slices = [cut for cut in cuts if isinstance(cut, ast.Slice)]
    return any(cut.lower is None and cut.upper is not None for cut in slices) and any(
        cut.lower is not None for cut in slices
    )


def _seeds(program: ProgramFacts) -> bool:
    return any("seed" in name for names in program.files for name in names.calls)


def can_write(site: Site, text: str) -> bool:
    """Whether an argument can be written in the split's file: torch has a name there, if it takes torch."""
    return "torch" not in text or "torch" in site.names.module.names
