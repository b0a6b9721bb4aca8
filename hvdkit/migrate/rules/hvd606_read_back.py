"""HVD606: a checkpoint that rank 0 has written is read when it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.files.vocabulary import SAVES
from hvdkit.migrate.facts.files.writers import own_file
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.binding_order import passed_once
from hvdkit.source.index.names import FunctionNode, Names

BARRIERS = ("horovod.torch.barrier", "hvdkit.torch.barrier")


MAX_CALLS = 3
# What reads arrays -> how the names of what saves them begin.
ARRAYS = {"numpy.load": "numpy.", "scipy.sparse.load_npz": "scipy.sparse."}


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.stmt] = set()
    for site in facts.calls("torch.load", *ARRAYS):
        ways = _ways if site.name == "torch.load" else _same_path
        for names, node in ways(facts, site.names, site.node):
            statement = passed_once(names, node)
            if statement is None or where_runs(facts, names, statement) is not Where.ALL or statement in seen:
                continue
            if any(_is_above(other, names, statement) for other in facts.calls(*BARRIERS)):
                continue
            seen.add(statement)
            message = "all ranks wait until rank 0 has written what is read here"
            line = f"{horovod_name(facts, names)}.barrier()"
            yield safe(
                facts, "HVD606", names, statement, message, edits.before, names.source, statement, [line]
            )


def _ways(facts: Facts, names: Names, node: ast.Call, depth: int = 0) -> Iterator[tuple[Names, ast.Call]]:
    """Where a file is read that may have been saved before: in the function that saves, or calls what does."""
    if not only_single(facts, names):
        return
    function = names.function(node)
    calls = names.calls_in(function or names.source.tree)
    above = [call for call in calls if call.lineno < node.lineno and names.function(call) is function]
    if any(_saves(facts, names, call) for call in above):
        yield names, node
    elif function is not None and depth < MAX_CALLS:
        for where, call in facts.flow.call_sites(names, function):
            yield from _ways(facts, where, call, depth + 1)


def _same_path(facts: Facts, names: Names, node: ast.Call) -> Iterator[tuple[Names, ast.Call]]:
    """Arrays are read where they were never saved as well: only those that the same function saves there."""
    path, function = given(node, 0, "file"), names.function(node)
    library = next(ARRAYS[name] for name in facts.flow.qualified(names, node.func) if name in ARRAYS)
    for site in facts.calls(*(name for name in SAVES if name.startswith(library))):
        saved = given(site.node, *SAVES[site.name])
        if (
            path is None
            or saved is None
            or site.names is not names
            or names.function(site.node) is not function
        ):
            continue
        above = site.node.lineno < node.lineno and only_single(facts, names)
        if above and ast.dump(saved) == ast.dump(path) and not own_file(facts, names, path):
            yield names, node


def _saves(facts: Facts, names: Names, call: ast.Call, depth: int = 0) -> bool:
    """Whether a call saves, itself or in the project's functions."""
    if "torch.save" in facts.flow.qualified(names, call.func):
        target = given(call, 1, "f")
        return target is None or not own_file(facts, names, target)
    functions = facts.flow.functions(names, call) if depth < MAX_CALLS else []
    return any(_function_saves(facts, *function, depth + 1) for function in functions)


@once
def _function_saves(facts: Facts, names: Names, function: FunctionNode, depth: int) -> bool:
    return any(_saves(facts, names, call, depth) for call in names.calls_in(function))


def _is_above(site: Site, names: Names, statement: ast.stmt) -> bool:
    return site.names is names and edits.preceding(names, statement) is names.statement(site.node)


RULE = Rule(
    id="HVD606",
    title="a barrier before reading back",
    what=(
        "Puts hvd.barrier() above a torch.load that follows a torch.save in the same function, or in what "
        "it calls; also above a numpy.load, or scipy.sparse.load_npz, of a path that the same function "
        "saves to."
    ),
    why="Only rank 0 writes now: the others would read a partial file, or the previous one.",
    safety="Safe: only where every rank passes it once, outside tests and loops.",
    check=check,
    changes=(
        Change(
            """\
            import scipy.sparse as sp
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss(x).backward()
            optimizer.step()
            sp.save_npz("graph.npz", graph)
            graph = sp.load_npz("graph.npz")
            """,
            """\
            import scipy.sparse as sp
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss(x).backward()
            optimizer.step()
            sp.save_npz("graph.npz", graph)
            hvd.barrier()
            graph = sp.load_npz("graph.npz")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import numpy as np
            import torch

            loss.backward()
            optimizer.step()
            np.save("losses.npy", losses)
            names = np.load("names.npy")
            """,
            reason="what is read is another file",
        ),
    ),
)
