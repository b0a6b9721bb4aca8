"""HVD116: memory that the processes of a spawn shared is each rank's own, once the launcher starts them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.programs.launched_processes import functions_below, leads_to_init, processes
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

SHARES = ("share_memory_", "share_memory")  # methods of a tensor, and of a model
PACKAGES = ("multiprocessing", "torch.multiprocessing")
CONTEXTS = frozenset(f"{package}.get_context" for package in PACKAGES)
# What a package, or a context of it, makes to be handed to other processes.
MADE = frozenset(
    (
        "Array",
        "Barrier",
        "Event",
        "JoinableQueue",
        "Manager",
        "Pipe",
        "Queue",
        "SimpleQueue",
        "Value",
    )
)
ADVICE = (
    "where one process writes what others read, send it: hvd.broadcast_() from the rank that writes, or "
    "hvd.allgather() of what each has; where all only read, there is nothing to do"
)


def check(facts: Facts) -> Iterator[Finding]:
    for program in (program for program in programs_of(facts) if program.kind == "ddp"):
        started = [each for each in _started(facts) if each[0] in program.files]
        if not started:
            continue
        inside = {
            function for names, worker, _ in started for function in functions_below(facts, names, worker)
        }
        for names, node in _shared(facts, started):
            if names in program.files and names.function(node) not in inside:
                message = "spawned processes shared this; under Horovod's launcher each rank has its own"
                yield manual("HVD116", names, node, message, ADVICE)


def _started(facts: Facts) -> list[tuple[Names, ast.expr, ast.expr | None]]:
    """What other processes run as ranks, with its arguments."""
    spawns = [(spawn.names, spawn.worker, spawn.args) for spawn in launch_of(facts).spawns]
    found = [each for each in spawns if leads_to_init(facts, each[0], each[1])]
    return [*found, *((names, worker, keyword(call, "args")) for names, call, worker in processes(facts))]


def _shared(
    facts: Facts, started: list[tuple[Names, ast.expr, ast.expr | None]]
) -> Iterator[tuple[Names, ast.Call]]:
    for method in SHARES:
        for names, call, _ in facts.methods(method):
            yield names, call
    for names, _, args in started:
        for argument in args.elts if isinstance(args, (ast.Tuple, ast.List)) else ():
            for value in facts.flow.values(names, argument):
                if isinstance(value.node, ast.Call) and _is_shared(facts, value):
                    yield value.names, value.node


def _is_shared(facts: Facts, value: Value) -> bool:
    """Whether what a call gives is made for several processes: `mp.Queue()`, or by a context or a manager."""
    package, _, made = value.name.rpartition(".")
    if package in PACKAGES:
        return made in MADE
    call = value.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    holders = facts.flow.values(value.names, call.func.value)
    if any(holder.name in CONTEXTS for holder in holders):
        return call.func.attr in MADE
    return any(holder.name.endswith(".Manager") and _is_shared(facts, holder) for holder in holders)


RULE = Rule(
    id="HVD116",
    title="memory shared by the processes of a spawn",
    what=(
        "Reports tensors and models that are put into shared memory, and queues and locks that are passed "
        "to the processes, in a script that starts its ranks itself."
    ),
    why=(
        "Spawned processes see what their parent puts into shared memory, and read what any of them writes. "
        "Horovod's launcher starts processes without such a parent: each fills its own copy, and no other "
        "process reads it."
    ),
    safety="Nothing is edited: whether ranks write into it, and who reads it, is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(rank, history, losses):
                dist.init_process_group("gloo", rank=rank, world_size=2)
                if rank == 0:
                    history.fill_(1)
                losses.put(history.sum())

            if __name__ == "__main__":
                history = torch.zeros(8).share_memory_()
                losses = mp.Queue()
                mp.spawn(run, args=(history, losses), nprocs=2)
            """,
            reason="the other ranks would never see what rank 0 writes",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.multiprocessing import Queue

            def run(rank):
                dist.init_process_group("gloo", rank=rank, world_size=2)
                batches = Queue()
                mp.Process(target=read, args=(batches,)).start()
                print(batches.get().share_memory_())

            mp.spawn(run, nprocs=2)
            """,
            reason="a rank shares memory with a process that it starts",
        ),
    ),
)
