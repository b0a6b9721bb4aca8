"""HVD418: the name of a folder that the starting process made from what it found on disk is rank 0's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.found_folders import (
    asks_whether_there,
    deciding_statement,
    found_names,
    free_names,
    is_told,
)
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.launched_processes import leads_to_init
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names


def check(facts: Facts) -> Iterator[Finding]:
    yield from _of_one_process(facts)
    done: set[tuple[ast.stmt, str]] = set()
    for spawn in launch_of(facts).spawns:
        names, function = spawn.names, spawn.names.function(spawn.node)
        if function is None or "ddp" not in kinds_of(facts, names):
            continue
        if not leads_to_init(facts, names, spawn.worker):
            continue
        for statement in found_names(names, function):
            place = deciding_statement(names, statement)
            variable = names.source.segment(statement.targets[0])
            if place.lineno > spawn.node.lineno or (place, variable) in done:
                continue
            done.add((place, variable))
            if where_runs(facts, names, place) is Where.ALL and not is_told(names, place):
                message = "one process named this folder by what it found on disk: all ranks use the name that rank 0 finds"
                yield safe(
                    facts, "HVD418", names, place, message, _edits, facts, names, function, place, variable
                )


def _of_one_process(facts: Facts) -> Iterator[Finding]:
    """Names that one process looked for, and that each rank would find for itself."""
    for names in (names for names in facts.files if only_single(facts, names)):
        for loop, variables in free_names(names):
            if where_runs(facts, names, loop) is Where.ALL and not is_told(names, loop):
                message = "each rank would find a different free name: all use the one that rank 0 finds"
                yield safe(facts, "HVD418", names, loop, message, _told, facts, names, loop, variables)
        for function in (None, *names.of_kind(*FUNCTIONS)):
            for statement in found_names(names, function or names.source.tree):
                place = deciding_statement(names, statement)
                if names.function(statement) is not function or is_told(names, place):
                    continue
                if where_runs(facts, names, place) is Where.ALL:
                    message = "each rank would name the folder by what it finds on disk: all use the name that rank 0 finds"
                    variables = [names.source.segment(statement.targets[0])]
                    yield safe(facts, "HVD418", names, place, message, _told, facts, names, place, variables)


def _told(facts: Facts, names: Names, place: ast.stmt, variables: list[str]) -> Edit:
    if not has_rank(facts, names, place):
        raise edits.CannotEdit("Horovod is not known to run yet where the name is looked for")
    hvd = horovod_name(facts, names)
    lines = [f"{each} = {hvd}.broadcast_object({each}, root_rank=0)" for each in variables]
    return edits.after(names.source, place, lines)


def _edits(facts: Facts, names: Names, function: FunctionNode, place: ast.stmt, variable: str) -> list[Edit]:
    if not has_rank(facts, names, place):
        raise edits.CannotEdit("Horovod is not known to run yet where the folder is named")
    hvd, source = horovod_name(facts, names), names.source
    found: list[Edit] = []
    last = place
    for part in names.walk(function):
        if (
            isinstance(part, ast.Assert)
            and part.lineno > place.lineno
            and asks_whether_there(names, part.test, variable)
        ):
            found += edits.guard(source, [part], f"{hvd}.rank() == 0")
            if part.lineno > (last.end_lineno or last.lineno):
                last = part
    if edits.block(names, last) is not edits.block(names, place):
        raise edits.CannotEdit("the test for the folder is somewhere else")
    # Below the assertion: the others make the folder as soon as they have its name.
    told = edits.after(source, last, [f"{variable} = {hvd}.broadcast_object({variable}, root_rank=0)"])
    return [*found, told]


RULE = Rule(
    id="HVD418",
    title="folders named by what exists",
    what=(
        "Gives all ranks rank 0's name for a folder that the parent process derived from what it found on "
        "disk, such as the next number; only rank 0 asserts that there is no such folder yet. It does the "
        "same with a name that a single-process script counts up until it is free, or derives from the "
        "contents of a folder."
    ),
    why=(
        "One process looked, created the folder, and passed the name on. horovodrun starts all processes at "
        "once: one that looks later finds the folder of a faster one, uses the next number, or stops at the "
        "assertion."
    ),
    safety="Safe: above mp.spawn one process found one name for all, and rank 0 finds the same.",
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size, folder):
                dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=size)

            def main(out, size):
                seen = [int(name) for name in os.listdir(out)]
                number = max(seen, default=-1) + 1
                folder = os.path.join(out, f"{number:05d}")
                assert not os.path.exists(folder)
                print(folder)
                os.makedirs(folder)
                mp.spawn(worker, args=(size, folder), nprocs=size)

            if __name__ == "__main__":
                dist.init_process_group("gloo")
                main("out", dist.get_world_size())
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size, folder):
                dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=size)

            def main(out, size):
                seen = [int(name) for name in os.listdir(out)]
                number = max(seen, default=-1) + 1
                folder = os.path.join(out, f"{number:05d}")
                if hvd.rank() == 0:
                    assert not os.path.exists(folder)
                folder = hvd.broadcast_object(folder, root_rank=0)
                print(folder)
                os.makedirs(folder)
                mp.spawn(worker, args=(size, folder), nprocs=size)

            if __name__ == "__main__":
                dist.init_process_group("gloo")
                main("out", dist.get_world_size())
            """,
            note="Only this rule: HVD605 allows an existing folder, HVD106 handles the spawn.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch.distributed as dist

            def main(out):
                dist.init_process_group("gloo")
                if dist.get_rank() == 0:
                    folder = os.path.join(out, str(len(os.listdir(out))))
                    os.makedirs(folder)
            """,
            reason="only rank 0 looks, as before",
        ),
    ),
)
