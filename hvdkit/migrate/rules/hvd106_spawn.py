"""HVD106: mp.spawn(worker, ...) becomes one call of the worker; the launcher starts the processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.launch.launch import Spawn, launch_of
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.launched_processes import called_openly, functions_below, leads_to_init
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

WORK = frozenset(("torch.load", "torch.save"))


def check(facts: Facts) -> Iterator[Finding]:
    for spawn in launch_of(facts).spawns:
        names = spawn.names
        if "ddp" not in kinds_of(facts, names):
            continue
        statement = names.statement(spawn.node)
        worker = names.source.segment(spawn.worker)
        if not leads_to_init(facts, names, spawn.worker):
            if not all(_followed(facts, site) for site in launch_of(facts).inits):
                message = f"whether {worker} reaches the code that creates the process group could not be determined"
                advice = (
                    f"call {worker}(hvd.local_rank(), ...) once if it does: horovodrun starts the processes"
                )
                yield manual("HVD106", names, spawn.node, message, advice)
            continue
        if not isinstance(statement, ast.Expr) or statement.value is not spawn.node:
            message = "the script itself waits for the spawned processes"
            advice = f"call {worker}(hvd.local_rank(), ...) once; horovodrun starts the processes and waits for them"
            yield manual("HVD106", names, spawn.node, message, advice)
            continue
        message = f"horovodrun starts the processes: each calls {worker} once"
        after = _work_after(facts, names, statement)
        if after is None and edits.following(names, statement) is not None:
            message += "; what follows ran once per host and now runs in every process"
        yield safe(facts, "HVD106", names, spawn.node, message, _edits, facts, spawn)
        if after is not None:
            hvd = horovod_name(facts, names)
            message = "this ran once per host after all workers finished, and now runs in every process"
            advice = (
                f"put it under `if {hvd}.local_rank() == 0:`, with {hvd}.barrier() above, "
                f"and {hvd}.shutdown(), where the worker calls it, below"
            )
            yield manual("HVD106", names, after, message, advice)


def _followed(facts: Facts, init: Site) -> bool:
    """Whether what reaches a call that creates a process group is known: a script, or a different spawn's worker."""
    below: list[ast.AST | None] = [
        function
        for other in launch_of(facts).spawns
        for function in functions_below(facts, other.names, other.worker)
    ]
    return called_openly(facts, init.names, init.node) or init.names.function(init.node) in below


def _work_after(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt | None:
    """The first statement behind the spawn that runs a function of the project, or reads or saves a model."""
    following = edits.following(names, statement)
    while following is not None:
        for call in names.calls_in(following):
            if facts.flow.functions(names, call) or WORK & set(names.qualified(call.func)):
                return following
        following = edits.following(names, following)
    return None


def _edits(facts: Facts, spawn: Spawn) -> list[Edit]:
    """Only what stands around the worker's arguments changes, so that they are open to other rules."""
    source, call = spawn.names.source, spawn.node
    head = f"{_called(source.segment(spawn.worker), spawn.worker)}({horovod_name(facts, spawn.names)}.local_rank()"
    if spawn.args is None or (isinstance(spawn.args, (ast.Tuple, ast.List)) and not spawn.args.elts):
        return [edits.replace(source, call, f"{head})")]
    if isinstance(spawn.args, (ast.Tuple, ast.List)):
        first, last = spawn.args.elts[0], spawn.args.elts[-1]
        before = source.text[source.start(spawn.args) : source.start(first)]
        if "#" in before or before.count("(") > 1:
            raise edits.CannotEdit("its arguments are written in a way that cannot be carried over")
        tail = source.text[source.end(last) : source.end(spawn.args)]
        if tail.count(")") > 1 or "#" in tail:
            raise edits.CannotEdit("its arguments are written in a way that cannot be carried over")
        return [
            Edit(source.start(call), source.start(first), f"{head}, "),
            Edit(source.end(last), source.end(call), ")"),
        ]
    return [edits.replace(source, call, f"{head}, *{source.segment(spawn.args)})")]


def _called(text: str, worker: ast.expr) -> str:
    return text if isinstance(worker, (ast.Name, ast.Attribute, ast.Call)) else f"({text})"


RULE = Rule(
    id="HVD106",
    title="mp.spawn becomes one call of its worker",
    what="Replaces torch.multiprocessing.spawn(worker, args=(a, b), nprocs=n) by worker(hvd.local_rank(), a, b).",
    why=(
        "horovodrun starts one process per GPU. A process that spawns again would start n jobs of n "
        "processes, none of them connected by Horovod."
    ),
    safety=(
        "Safe where the spawn is a separate statement and its worker creates the process group: spawn's "
        "first argument to the worker is the process's number on this host, which is the local rank."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, size, args):
                dist.init_process_group("nccl", rank=gpu, world_size=size)

            def main(args):
                mp.spawn(worker, args=(args.size, args), nprocs=args.size, join=True)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def worker(gpu, size, args):
                dist.init_process_group("nccl", rank=gpu, world_size=size)

            def main(args):
                worker(hvd.local_rank(), args.size, args)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def prepare(index, files):
                print(files[index])

            mp.spawn(prepare, args=(["a", "b"],), nprocs=2)
            dist.init_process_group("gloo")
            """,
            reason="these processes do something else: none of them joins the process group",
        ),
    ),
)
