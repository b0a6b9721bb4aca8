"""HVD418: the name of a folder that the starting process made from what it found on disk is rank 0's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.launched_processes import leads_to_init
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.finding import safe
from hvdkit.migrate.names import FUNCTIONS, FunctionNode, Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

LISTS = frozenset(("os.listdir", "os.scandir", "glob.glob", "glob.iglob"))
METHODS = frozenset(("iterdir", "glob", "rglob"))
MAKERS = frozenset(("os.makedirs", "os.mkdir"))
PATH_QUESTIONS = {"exists", "is_dir", "is_file"}
QUESTIONS = frozenset(("os.path.exists", "os.path.isdir", "os.path.isfile"))
MAX_STEPS = 8


def check(facts: Facts) -> Iterator[Finding]:
    done: set[tuple[ast.stmt, str]] = set()
    for spawn in launch_of(facts).spawns:
        names, function = spawn.names, spawn.names.function(spawn.node)
        if function is None or "ddp" not in kinds_of(facts, names):
            continue
        if not leads_to_init(facts, names, spawn.worker):
            continue
        for statement in _found_names(names, function):
            place = _decided(names, statement)
            variable = names.source.segment(statement.targets[0])
            if place.lineno > spawn.node.lineno or (place, variable) in done:
                continue
            done.add((place, variable))
            if where_runs(facts, names, place) is Where.ALL and not _told(names, place):
                message = "one process named this folder by what it found: all ranks take the name that rank 0 finds"
                yield safe(
                    facts, "HVD418", names, place, message, _edits, facts, names, function, place, variable
                )


def _decided(names: Names, statement: ast.stmt) -> ast.stmt:
    """An assignment, or the outermost test around it that asks what is in a folder."""
    found = statement
    for parent in names.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and _lists(names, parent.test, 0):
            found = parent
    return found


def _told(names: Names, place: ast.stmt) -> bool:
    """Whether rank 0 tells the others already."""
    block = edits.block(names, place)
    return any(_tells(names, statement) for statement in block[block.index(place) :])


def _tells(names: Names, statement: ast.stmt) -> bool:
    return any(getattr(call.func, "attr", "") == "broadcast_object" for call in names.calls_in(statement))


def _found_names(names: Names, function: FunctionNode) -> Iterator[ast.Assign]:
    """The assignments of names that are made from what is in a folder, for a folder that is made below."""
    made = {text for call in names.calls_in(function) for text in _about(names, call, MAKERS, {"mkdir"})}
    for statement in names.walk(function):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if ast.unparse(statement.targets[0]) in made and _lists(names, statement.value, 0):
                yield statement


def _lists(names: Names, node: ast.expr, steps: int) -> bool:
    """Whether a value is made from the contents of a folder."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            method = getattr(part.func, "attr", "") in METHODS and not names.qualified(part.func)
            if method or LISTS & set(names.qualified(part.func)):
                return True
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and steps < MAX_STEPS:
            values = [
                b.value for b in names.bindings(part.id, part) if b.kind == "assign" and b.value is not None
            ]
            if any(value is not node and _lists(names, value, steps + 1) for value in values):
                return True
    return False


def _edits(facts: Facts, names: Names, function: FunctionNode, place: ast.stmt, variable: str) -> list[Edit]:
    if not has_rank(facts, names, place):
        raise edits.CannotEdit("Horovod is not known to run yet where the folder is named")
    hvd, source = horovod_name(facts, names), names.source
    found: list[Edit] = []
    last = place
    for part in names.walk(function):
        if isinstance(part, ast.Assert) and part.lineno > place.lineno and _asks(names, part.test, variable):
            found += edits.guard(source, [part], f"{hvd}.rank() == 0")
            if part.lineno > (last.end_lineno or last.lineno):
                last = part
    if edits.block(names, last) is not edits.block(names, place):
        raise edits.CannotEdit("whether the folder is there is asked somewhere else")
    # Below the assertion: the others make the folder as soon as they have its name.
    told = edits.after(source, last, [f"{variable} = {hvd}.broadcast_object({variable}, root_rank=0)"])
    return [*found, told]


def _asks(names: Names, test: ast.expr, variable: str) -> bool:
    """Whether a test asks for the folder itself."""
    calls = (part for part in ast.walk(test) if isinstance(part, ast.Call))
    return any(variable in _about(names, call, QUESTIONS, PATH_QUESTIONS) for call in calls)


def _about(names: Names, call: ast.Call, functions: frozenset[str], methods: set[str]) -> Iterator[str]:
    """The path, as it is written, that one of os's functions or of a Path's methods is about."""
    if call.args and functions & set(names.qualified(call.func)):
        yield ast.unparse(call.args[0])
    elif (
        isinstance(call.func, ast.Attribute) and call.func.attr in methods and not names.qualified(call.func)
    ):
        yield ast.unparse(call.func.value)


RULE = Rule(
    id="HVD418",
    title="folders that are named by what is there",
    what=(
        "Gives all ranks rank 0's name of a folder that the process which started the others made up from what it "
        "found in a folder, such as the next number; only rank 0 asserts that there is no such folder yet."
    ),
    why=(
        "One process looked, made the folder, and told the others. horovodrun starts all of them: one that looks "
        "later finds the folder of a faster one, takes the next number for itself, or stops at the assertion."
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
            note="Only this rule: HVD605 lets the folder be there, HVD106 takes the spawn.",
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
            reason="rank 0 alone looks, as it always did",
        ),
    ),
)
