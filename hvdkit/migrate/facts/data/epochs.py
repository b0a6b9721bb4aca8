"""The loops over epochs around a loader: their numbers, and whether a sampler hears of them."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.loops import Loop, Path, training_loops
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Names

_PLACES = (ast.Name, ast.Attribute, ast.Subscript)


def epoch_number(facts: Facts, loop: Loop) -> str | None:
    """What counts the epochs: a for loop's variable, or that which a while loop tests and adds 1 to."""
    node = loop.node
    if not isinstance(node, ast.While) and _names_things(facts, loop.names, node.iter):
        return None
    if isinstance(node, ast.While):
        tested = {ast.unparse(part) for part in ast.walk(node.test) if isinstance(part, _PLACES)}
        counted = (s.target for s in node.body if isinstance(s, ast.AugAssign) and isinstance(s.op, ast.Add))
        target: ast.expr | None = next((t for t in counted if ast.unparse(t) in tested), None)
    else:
        target = node.target
        if isinstance(target, ast.Tuple) and isinstance(node.iter, ast.Call):
            if getattr(node.iter.func, "id", "") == "enumerate":
                target = target.elts[0]
    return loop.names.source.segment(target) if isinstance(target, _PLACES) else None


def _names_things(facts: Facts, names: Names, iterated: ast.expr) -> bool:
    """Whether a loop runs over no numbers: `for loader in (one, two)`, `for phase in ["train"]`."""
    return any(
        not (isinstance(element, ast.Constant) and type(element.value) is int)
        for value in facts.flow.values(names, iterated)
        if isinstance(value.node, (ast.Tuple, ast.List, ast.Set, ast.Dict))
        for element in (value.node.keys if isinstance(value.node, ast.Dict) else value.node.elts)
    )


def epoch_loops(facts: Facts, loader: Loader) -> list[Loop]:
    """The loops over epochs, each of which runs over the whole loader."""
    found = (path.epoch for path in training_loops(facts).paths if loader.value in path.loaders)
    return list(dict.fromkeys(loop for loop in found if loop is not None))


def told_epoch(facts: Facts, loop: Loop) -> bool:
    """Whether set_epoch is called in a loop, on whatever it is."""
    return any(
        names is loop.names and loop.node in names.ancestors(call)
        for names, call, _ in facts.methods("set_epoch")
    )


def counts_again(facts: Facts, loader: Loader, epoch: Loop) -> bool:
    """Whether a loop begins to count again for the same loader: `for epoch in ...: for repeat in ...:`."""
    made_in = set(loader.names.ancestors(loader.node))
    return any(
        outer.node not in made_in and not made_in & _callers(path, outer)
        for path in training_loops(facts).paths
        if loader.value in path.loaders and path.epoch == epoch
        for outer in path.loops[path.loops.index(epoch) + 1 :]
    )


def _callers(path: Path, loop: Loop) -> set[ast.AST]:
    """The functions that a loop calls on the way to a backward pass."""
    around = loop.names.function(loop.node)
    inner: set[ast.AST] = set()
    for names, node in ((path.names, path.backward), *path.calls):
        function = names.function(node)
        if function is around or function is None:
            break
        inner.add(function)
    return inner


def run_once(facts: Facts, loader: Loader) -> bool:
    """Whether the loader is run through once: its loop stands in no other, up to the module."""
    paths = [path for path in training_loops(facts).paths if loader.value in path.loaders]
    return all(
        len(path.loops) == 1
        and isinstance(path.loops[0].node, ast.For)
        and bool(training_loops(facts).loaders_in(path.loops[0].names, path.loops[0].node.iter))
        and path.top is None
        for path in paths
    )
