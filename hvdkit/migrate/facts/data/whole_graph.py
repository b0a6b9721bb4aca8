"""Training on one graph as a whole: each step computes all of it, and there are no batches to share out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.loops import Loop, Path
from hvdkit.migrate.facts.data.random_batches import above, chosen
from hvdkit.migrate.facts.data.training_loaders import unfollowed_loaders
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values.arguments import passed
from hvdkit.source.index.names import FUNCTIONS, Binding, Names

FileNode = tuple[Names, ast.AST]
MAX_CALLS = 4
RANDOM = ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "numpy.random.", "random.")
GRAPHS = ("torch_geometric.datasets.", "ogb.nodeproppred.", "ogb.linkproppred.")
# Data sets of these libraries that draw their graphs anew in every process: no two ranks have the same.
_DRAWN = tuple(
    f"torch_geometric.datasets.{name}" for name in ("Fake", "Explainer", "Infection", "generators")
)


@once
def whole_graph(facts: Facts, program: ProgramFacts) -> tuple[FileNode, FileNode] | None:
    """The data set of a program that trains on all of its graph in each step, and the loop that does so.

    None where a batch may be chosen: by a loader, by random numbers, or by the number of a round.
    """
    paths = training_paths(facts, program) if program.kind in ("single", "horovod") else []
    if not paths or any(path.loaders for path in paths) or unfollowed_loaders(facts, program):
        return None
    if not all(same_in_each_round(facts, path) for path in paths):
        return None
    graphs = [next(_graphs(facts, path.names, path.backward, 0, set()), None) for path in paths]
    if any(graph is None or _is_drawn(facts, graph) for graph in graphs) or graphs[0] is None:
        return None
    loop = paths[0].loops[-1]
    return graphs[0], (loop.names, loop.node)


def trains_on_whole_graph(facts: Facts, names: Names) -> bool:
    """Whether every program that a file belongs to, and that trains, trains on a graph as a whole."""
    programs = [program for program in programs_with(facts, names) if program.kind != "none"]
    return bool(programs) and all(whole_graph(facts, program) for program in programs)


def same_in_each_round(facts: Facts, path: Path) -> bool:
    """Whether all loops around a backward pass only count, and nothing in them chooses by what is counted."""
    if not path.loops or not all(_counts(loop) for loop in path.loops):
        return False
    outermost = path.loops[-1]
    if any(chosen(facts, outermost.names, outermost.node, 0)) or _counts_itself(path, outermost):
        return False
    if any(_asks_for_next(names, node) for names, node in computed(path)):
        return False
    counted = {part.id for loop in path.loops for part in _targets(loop)}
    return not any(
        isinstance(part, ast.Name) and part.id in counted and not _only_shown(names, part)
        for names, node in computed(path)
        for part in ast.walk(node)
    )


def _asks_for_next(names: Names, node: ast.AST) -> bool:
    """Whether something is taken by next(), which is another one each time."""
    return any(isinstance(call.func, ast.Name) and call.func.id == "next" for call in names.calls_in(node))


def one_batch(facts: Facts, path: Path) -> bool:
    """Whether each step computes the same batch, and draws no part of it at random."""
    return (
        same_in_each_round(facts, path)
        and not any(
            name.startswith(RANDOM)
            for names, node in computed(path)
            for call in names.calls_in(node)
            for name in names.qualified(call.func)
        )
        and not any(_plays(facts, names, node, 0) for names, node in computed(path))
    )


def _plays(facts: Facts, names: Names, node: ast.AST, depth: int) -> bool:
    """Whether a node reaches `environment.step(action)`, which returns a different state each time."""
    calls = names.calls_in(node)
    if any(isinstance(call.func, ast.Attribute) and call.func.attr == "step" and call.args for call in calls):
        return True
    return depth < MAX_CALLS and any(
        _plays(facts, where, function, depth + 1)
        for call in calls
        for where, function in facts.flow.functions(names, call)
    )


def computed(path: Path) -> Iterator[FileNode]:
    """What a turn of the outermost loop runs up to a backward pass, with that."""
    yield path.names, path.backward
    yield from above(path, path.loops[-1].node)


def _counts(loop: Loop) -> bool:
    """`for _ in range(n)`, also inside a tqdm, or in a variable."""
    node = loop.node.iter if isinstance(loop.node, ast.For) else None
    bound = loop.names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].path:
        node = bound[0].value
    if isinstance(node, ast.Call) and node.args and "tqdm.tqdm" in loop.names.qualified(node.func):
        node = node.args[0]
    if not isinstance(node, ast.Call):
        return False
    plain = isinstance(node.func, ast.Name) and node.func.id == "range"
    return plain or "tqdm.trange" in loop.names.qualified(node.func)


def _targets(loop: Loop) -> Iterator[ast.Name]:
    if isinstance(loop.node, ast.For):
        yield from (part for part in ast.walk(loop.node.target) if isinstance(part, ast.Name))


def _only_shown(names: Names, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.JoinedStr) for parent in names.ancestors(node))


def _counts_itself(path: Path, outermost: Loop) -> bool:
    """Whether a loop has a number of its own that chooses parts: `at += size`, and `x[at : at + size]`."""
    within = [(path.names, path.names.function(path.backward)), (outermost.names, outermost.node)]
    parts = [part for _, node in within if node is not None for part in ast.walk(node)]
    added = {ast.unparse(part.target) for part in parts if isinstance(part, ast.AugAssign)}
    return any(
        ast.unparse(index) in added
        for part in parts
        if isinstance(part, ast.Subscript)
        for index in ast.walk(part.slice)
        if isinstance(index, (ast.Name, ast.Attribute))
    )


def _is_drawn(facts: Facts, graph: FileNode) -> bool:
    names, call = graph
    return isinstance(call, ast.Call) and any(
        name.startswith(_DRAWN) for name in facts.flow.qualified(names, call.func)
    )


def _graphs(facts: Facts, names: Names, node: ast.AST, depth: int, seen: set[ast.AST]) -> Iterator[FileNode]:
    """The graphs of libraries' data sets that an expression, or what it calls, may be computed from."""
    if node in seen:
        return
    seen.add(node)
    for part in names.walk(node):
        if isinstance(part, ast.Call):
            if any(name.startswith(GRAPHS) for name in facts.flow.qualified(names, part.func)):
                yield names, part
            for where, function in facts.flow.functions(names, part) if depth < MAX_CALLS else ():
                yield from _graphs(facts, where, function, depth + 1, seen)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            for binding in names.bindings(part.id, part):
                for where, value in _sources(facts, names, binding):
                    yield from _graphs(facts, where, value, depth, seen)


def _sources(facts: Facts, names: Names, binding: Binding) -> Iterator[FileNode]:
    """What a variable was given: by an assignment, or by the calls of the function that has it."""
    if binding.kind in ("assign", "each", "with") and binding.value is not None:
        yield names, binding.value
    elif binding.kind == "param" and isinstance(binding.node, ast.arg):
        function = names.parents[names.parents[binding.node]]
        if isinstance(function, FUNCTIONS):
            for where, call in facts.flow.call_sites(names, function):
                given = passed(names, function, where, call, binding.node.arg)
                if given is not None:
                    yield where, given
