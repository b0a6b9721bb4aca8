"""HVD113: a loop that starts one Process per rank becomes one call of the worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.edits.unnesting import open_up
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.process_loops import Starting, kept_in, python_again, starting_loop
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.launched_processes import processes
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, worker in processes(facts):
        text = names.source.segment(worker)
        starting = starting_loop(names, call, worker)
        if starting is None:
            message = f"processes that run {text} are started by hand"
            advice = (
                f"call {text} once with hvd.local_rank(); horovodrun starts the processes and waits for them"
            )
            yield manual("HVD113", names, call, message, advice)
        else:
            message = f"horovodrun starts the processes: each calls {text} once"
            yield safe(facts, "HVD113", names, call, message, _edits, facts, names, starting)
    for site in python_again(facts):
        message = "processes that run this script again are started by hand"
        advice = "remove this launcher: horovodrun starts the processes, and each would start them again here"
        yield manual("HVD113", site.names, site.node, message, advice)


def _edits(facts: Facts, names: Names, starting: Starting) -> list[Edit]:
    source = names.source
    index = f"{horovod_name(facts, names)}.local_rank()"
    target = starting.loop.target
    assert isinstance(target, ast.Name)
    given = [
        index if isinstance(arg, ast.Name) and arg.id == target.id else source.segment(arg)
        for arg in starting.args.elts
    ]
    inner = {part.id for arg in starting.args.elts for part in ast.walk(arg) if isinstance(part, ast.Name)}
    plain = {arg.id for arg in starting.args.elts if isinstance(arg, ast.Name)}
    if target.id in inner - plain:
        raise edits.CannotEdit("the process's number is part of a larger expression")
    if starting.ready:
        return [*_opened(names, starting, f"{target.id} = {index}"), *_without_list(names, starting)]
    edits.own_lines(source, starting.loop)
    call = f"{source.segment(starting.worker)}({', '.join(given)})"
    return [edits.replace(source, starting.loop, call), *_without_list(names, starting)]


def _opened(names: Names, starting: Starting, first: str) -> list[Edit]:
    """The loop's statements, once: what makes something ready, then the call."""
    made = starting.made
    call: list[str | ast.expr] = [starting.worker, "("]
    for argument in starting.args.elts:
        call += [", ", argument] if argument is not starting.args.elts[0] else [argument]
    if made.end_lineno != made.lineno:
        raise edits.CannotEdit("the process is made on several lines")
    return [
        *open_up(names, starting.loop, first, starting.keeps),
        *edits.recast(names.source, made, [*call, ")"]),
        *(edits.delete(names, statement) for statement in starting.keeps),
    ]


def _without_list(names: Names, starting: Starting) -> list[Edit]:
    """The list of processes gone, and the loop that waits for them."""
    gone = (kept_in(names, starting), starting.waiting)
    return [edits.delete(names, statement) for statement in gone if statement is not None]


RULE = Rule(
    id="HVD113",
    title="a loop of Process becomes one call",
    what=(
        "Replaces the loop that starts one multiprocessing.Process per rank, and the one that joins them, "
        "by a call. What the loop sets for each process is set once."
    ),
    why="horovodrun starts the processes; a process that starts more of them makes jobs that are not connected.",
    safety="Safe in the usual form of two loops; any other way to start processes is left to you.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(rank, size, job):
                dist.init_process_group("gloo", rank=rank, world_size=size)
                job(rank)

            if __name__ == "__main__":
                size = 2
                processes = []
                for rank in range(size):
                    p = mp.Process(target=run, args=(rank, size, print))
                    p.start()
                    processes.append(p)
                for p in processes:
                    p.join()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def run(rank, size, job):
                dist.init_process_group("gloo", rank=rank, world_size=size)
                job(rank)

            if __name__ == "__main__":
                size = 2
                run(hvd.local_rank(), size, print)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import subprocess
            import sys
            import torch.distributed as dist

            dist.init_process_group("nccl")
            for name in ("apex", "timm"):
                subprocess.check_call([sys.executable, "-m", "pip", "install", name])
            """,
            reason="another program is started",
        ),
    ),
)
