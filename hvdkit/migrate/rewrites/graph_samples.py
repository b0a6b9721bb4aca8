"""What PyTorch Geometric's loaders of parts of one graph draw from: nodes or edges, as an expression.

A DistributedSampler only asks how many there are, in the order in which the loader counts them.
"""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import Names

EDGES = "edge_label_index"
UNFOLLOWED = "what it draws its batches from was not followed"


def is_of_graph(loader: Loader) -> bool:
    """Whether a loader draws parts of one graph."""
    return loader.value.name in words.GRAPH_LOADERS


def drawn_from(facts: Facts, loader: Loader) -> str:
    """An expression as long as what a loader of a graph draws from. Raises CannotEdit."""
    names, call = loader.names, loader.node
    parameter, position = words.GRAPH_LOADERS[loader.value.name]
    chosen = given(call, position, parameter) if parameter else None
    if isinstance(chosen, ast.Constant) and chosen.value is None:
        chosen = None
    if chosen is None and parameter and any(keyword.arg is None for keyword in call.keywords):
        raise edits.CannotEdit(UNFOLLOWED)  # it may be among what is unpacked
    count = "num_edges" if parameter == EDGES else "num_nodes"
    if chosen is None:
        return f"range({_graph(loader)}.{count})"
    if _is_text(chosen) or _is_kind_of_edge(chosen):
        return f"range({_graph(loader)}[{names.source.segment(chosen)}].{count})"
    kind, part = _of_kind(loader, chosen)
    if parameter == EDGES:
        return f"range({part}.size(1))"
    if "torch" not in names.module.names or _moved(names, chosen):
        raise edits.CannotEdit(UNFOLLOWED)
    graph = f"{_graph(loader)}[{kind}]" if kind else _graph(loader)
    return f"torch.arange({graph}.num_nodes)[{part}]"


def _graph(loader: Loader) -> str:
    """The graph that a loader was given, where it has a name."""
    graph = given(loader.node, 0, "data")
    if not isinstance(graph, (ast.Name, ast.Attribute)):
        raise edits.CannotEdit(UNFOLLOWED)
    return loader.names.source.segment(graph)


def _of_kind(loader: Loader, chosen: ast.expr) -> tuple[str, str]:
    """The kind, "" in a graph of one kind, and which of it: `("paper", data["paper"].train_mask)`."""
    names, source = loader.names, loader.names.source
    written = chosen
    if isinstance(chosen, ast.Name):
        bound = names.bindings(chosen.id, chosen)
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].path or bound[0].value is None:
            raise edits.CannotEdit(UNFOLLOWED)
        written = bound[0].value
    if isinstance(written, (ast.Tuple, ast.List)):
        kind, part = _two(written)
        if isinstance(chosen, ast.Name):
            return f"{chosen.id}[0]", f"{chosen.id}[1]"
        return source.segment(kind), source.segment(part)
    if not ast.unparse(written).startswith(f"{_graph(loader)}."):  # else it may be a pair, too
        raise edits.CannotEdit(UNFOLLOWED)
    return "", source.segment(chosen)


def _two(pair: ast.Tuple | ast.List) -> tuple[ast.expr, ast.expr]:
    if len(pair.elts) != 2 or not isinstance(pair.elts[1], (ast.Name, ast.Attribute, ast.Subscript)):
        raise edits.CannotEdit(UNFOLLOWED)
    return pair.elts[0], pair.elts[1]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_kind_of_edge(node: ast.expr) -> bool:
    """`("user", "rates", "movie")`, all edges of a kind."""
    return isinstance(node, ast.Tuple) and len(node.elts) == 3 and all(_is_text(part) for part in node.elts)


def _moved(names: Names, chosen: ast.expr) -> bool:
    """Whether nodes, or the graph that has them, may be on another device than what they are looked up in."""
    parts = list(ast.walk(chosen))
    for part in list(parts):
        for binding in names.bindings(part.id, part) if isinstance(part, ast.Name) else ():
            parts += ast.walk(binding.value) if binding.value is not None else ()
    # `data.to(device, "x", "y")` moves these two alone.
    calls = ((getattr(part.func, "attr", ""), part.args) for part in parts if isinstance(part, ast.Call))
    return any(name == "cuda" or (name == "to" and len(given) < 2) for name, given in calls)
