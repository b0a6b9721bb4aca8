"""HVD300: data sets that download themselves are made first by one process of each host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.code.loops import backward_files
from hvdkit.migrate.facts.data.downloads import downloading_sets, downloads_by_hand, waited_for, waits
from hvdkit.migrate.facts.data.sample_code import prepares_data
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.launched_processes import functions_below
from hvdkit.migrate.facts.programs.reached_code import only_single, trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[Names, list[ast.stmt]] = {}
    for site in downloading_sets(facts):
        if not only_single(facts, site.names) or prepares_data(facts, site.names, site.node):
            continue  # in what a data set prepares only one process of a host is there
        late = _made_late(facts, site)
        if late:
            message = f"this data set downloads its files {late}, on every rank at once"
            yield manual("HVD300", site.names, site.node, message, _advice(facts, site.names))
            continue
        found.setdefault(site.names, []).append(site.names.statement(site.node))
    for names, statements in found.items():
        for row in edits.rows(names, dict.fromkeys(statements)):
            waiting = edits.preceding(names, row[0])
            if where_runs(facts, names, row[0]) is not Where.ALL or waits(facts, names, waiting):
                continue
            message = "one process per host downloads; the others wait and find the data"
            yield safe(facts, "HVD300", names, row[0], message, _edits, facts, names, row[0], row[-1])
    for names, call in downloads_by_hand(facts):
        if only_single(facts, names) and trained_by(facts, names, call):
            if (
                where_runs(facts, names, call) is Where.ALL
                and not prepares_data(facts, names, call)
                and not waited_for(facts, names, call)
            ):
                message = "every rank would download this at once, and unpack and move files that others are writing"
                yield manual("HVD300", names, call, message, _advice(facts, names))


def _made_late(facts: Facts, site: Site) -> str:
    """When it downloads, where that is not on its line alone: ranks may not wait for one another around it."""
    for parent in site.names.ancestors(site.node):
        if isinstance(parent, ast.Lambda):
            return "when the lambda around it is called"
        if isinstance(parent, ast.stmt):
            return ""
        if isinstance(parent, ast.Call) and _trains(facts, site.names, parent.func):
            return "in a call that trains with it"
    return ""


def _trains(facts: Facts, names: Names, function: ast.expr) -> bool:
    """Whether all ranks have to run a function together: it makes an optimizer, or runs a backward pass."""
    return any(
        part in _together(facts)
        for below in functions_below(facts, names, function)
        for part in ast.walk(below)
    )


def _advice(facts: Facts, names: Names) -> str:
    hvd = horovod_name(facts, names)
    return (
        f"where it is called: `if {hvd}.local_rank() != 0: {hvd}.barrier()` above the call, and "
        f"`if {hvd}.local_rank() == 0: {hvd}.barrier()` below it"
    )


def _edits(facts: Facts, names: Names, first: ast.stmt, last: ast.stmt) -> list[Edit]:
    hvd = horovod_name(facts, names)
    return [
        edits.before(names.source, first, [f"if {hvd}.local_rank() != 0:", f"\t{hvd}.barrier()"]),
        edits.after(names.source, last, [f"if {hvd}.local_rank() == 0:", f"\t{hvd}.barrier()"]),
    ]


@once
def _together(facts: Facts) -> set[ast.AST]:
    return {optimizer.node for optimizer in averaging_optimizers(facts)} | backward_files(facts).keys()


RULE = Rule(
    id="HVD300",
    title="one download for each host",
    what=(
        "Makes all but the first process of a host wait at a barrier while that one creates the data sets "
        "with download=True, or the graphs of PyTorch Geometric, DGL and OGB, which always download; then "
        "the others create them from the files on disk."
    ),
    why="N processes that download and unpack into one folder at once read each other's partial files.",
    safety="Safe: every rank creates the same data sets as before, and passes exactly one barrier.",
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torchvision import datasets

            def main():
                train = datasets.MNIST("data", train=True, download=True)
                test = datasets.MNIST("data", train=False, download=True)
                loss.backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torchvision import datasets

            def main():
                if hvd.local_rank() != 0:
                    hvd.barrier()
                train = datasets.MNIST("data", train=True, download=True)
                test = datasets.MNIST("data", train=False, download=True)
                if hvd.local_rank() == 0:
                    hvd.barrier()
                loss.backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torchvision import datasets

            train = datasets.MNIST("data", train=True, download=False)
            loss.backward()
            """,
            reason="it downloads nothing",
        ),
    ),
)
