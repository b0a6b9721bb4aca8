"""HVD113: a loop that starts one Process per rank becomes one call of the worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.data.training import trained_by, training_paths
from hvdkit.migrate.facts.launch.launched_processes import processes
from hvdkit.migrate.facts.values.arguments import keyword
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


@dataclass(frozen=True)
class Starting:
    """The loop that starts the processes, the worker's arguments, and the loop, if any, that waits for them.

    made: the statement that makes the process; ready: whether others above it make something ready.
    """

    loop: ast.For
    worker: ast.expr
    args: ast.Tuple | ast.List
    waiting: ast.For | None
    made: ast.stmt
    ready: bool


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, worker in processes(facts):
        text = names.source.segment(worker)
        starting = _starting(names, call, worker)
        if starting is None:
            message = f"processes that run {text} are started by hand"
            advice = (
                f"call {text} once with hvd.local_rank(); horovodrun starts the processes and waits for them"
            )
            yield facts.manual("HVD113", names, call, message, advice)
        else:
            message = f"horovodrun starts the processes: each calls {text} once"
            yield facts.safe("HVD113", names, call, message, _edits, facts, names, starting)
    for site in facts.calls("subprocess."):
        if _starts_python_again(site) and _in_training(facts, site):
            message = "processes that run this script again are started by hand"
            advice = "take this launcher out: horovodrun starts the processes, and each would start them again here"
            yield facts.manual("HVD113", site.names, site.node, message, advice)


def _in_training(facts: Facts, site: Site) -> bool:
    """Whether a program that trains on several ranks comes to a call."""
    return any(
        program.kind == "ddp" and training_paths(facts, program)
        for program in trained_by(facts, site.names, site.node)
    )


def _starts_python_again(site: Site) -> bool:
    """Whether Python is started with a list of arguments that is not written here, in a loop."""
    names, call = site.names, site.node
    command = call.args[0] if call.args else call
    python = any("sys.executable" in names.qualified(part) for part in ast.walk(command))
    written = any(isinstance(part, ast.Constant) for part in ast.walk(command))
    return python and not written and names.in_loop(call)


def _starting(names: Names, call: ast.Call, worker: ast.expr) -> Starting | None:
    """The usual form: a loop over range that makes, starts and keeps a process, then one that joins them.

    Python itself waits for them where nothing follows the loop.
    """
    args = keyword(call, "args")
    loop = next((parent for parent in names.ancestors(call) if isinstance(parent, ast.For)), None)
    if loop is None or not isinstance(args, (ast.Tuple, ast.List)) or not isinstance(loop.target, ast.Name):
        return None
    if not isinstance(loop.iter, ast.Call) or getattr(loop.iter.func, "id", "") != "range" or loop.orelse:
        return None
    made = names.statement(call)
    if made not in loop.body:
        return None
    above = [statement for statement in loop.body if not _belongs(statement, call)]
    if any(statement.lineno > made.lineno or not _makes_ready(statement) for statement in above):
        return None
    following = edits.following(names, loop)
    if _last(names, loop):
        return Starting(loop, worker, args, None, made, bool(above))
    waits = isinstance(following, ast.For) and len(following.body) == 1 and not following.orelse
    if not waits or not isinstance(following, ast.For) or _method(following.body[0]) != "join":
        return None
    return Starting(loop, worker, args, following, made, bool(above))


def _last(names: Names, statement: ast.stmt) -> bool:
    """Whether nothing follows a statement of the module, or of its main guard."""
    parent = names.parents[statement]
    if edits.following(names, statement) is not None or not isinstance(parent, (ast.If, ast.Module)):
        return False
    return isinstance(parent, ast.Module) or _last(names, parent)


def _belongs(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement of the loop does nothing but make, start or keep the process."""
    if isinstance(statement, ast.Assign):
        return statement.value is call
    return _method(statement) in ("start", "append")


def _makes_ready(statement: ast.stmt) -> bool:
    """Whether a statement only sets or prints something for the process: `args.local_rank = rank`."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Name, ast.Attribute)) for target in statement.targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print"


def _method(statement: ast.stmt) -> str:
    """The name of the method that an expression statement calls."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return function.attr if isinstance(function, ast.Attribute) else ""
    return ""


def _edits(facts: Facts, names: Names, starting: Starting) -> list[Edit]:
    source = names.source
    index = f"{facts.hvd(names)}.local_rank()"
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
    gone = [s for s in starting.loop.body if s is not made and _method(s) in ("start", "append")]
    return [
        *edits.open_up(names, starting.loop, first, gone),
        *edits.recast(names.source, made, [*call, ")"]),
        *(edits.delete(names, statement) for statement in gone),
    ]


def _without_list(names: Names, starting: Starting) -> list[Edit]:
    """The list of processes gone, and the loop that waits for them."""
    gone = (_kept_in(names, starting), starting.waiting)
    return [edits.delete(names, statement) for statement in gone if statement is not None]


def _kept_in(names: Names, starting: Starting) -> ast.Assign | None:
    """The statement `processes = []` above, where that list is for the two loops alone."""
    loops = {starting.loop, starting.waiting}
    for statement in edits.block(names, starting.loop):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            (target, *more) = statement.targets
            if isinstance(target, ast.Name) and not (more or statement.value.elts):
                uses = [use for use in names.uses.get(target.id, ()) if use is not target]
                if uses and all(loops.intersection(names.ancestors(use)) for use in uses):
                    return statement
    return None


RULE = Rule(
    id="HVD113",
    title="a loop of Process becomes one call",
    what=(
        "Replaces the loop that starts one multiprocessing.Process per rank, and the one that joins them, by a call. "
        "What the loop sets for each process is set once."
    ),
    why="horovodrun starts the processes; one that starts more of them makes jobs that nobody connects.",
    safety="Safe in the usual form of two loops; any other way of starting processes is left to the person.",
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
        Change(
            """\
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            workers = []
            for rank in range(2):
                worker = Process(target=run, args=(rank, 2))
                worker.start()
                workers.append(worker)
            for worker in workers:
                worker.join()
            print(len(workers))
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def run(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            workers = []
            run(hvd.local_rank(), 2)
            print(len(workers))
            """,
            note="What is asked about the list stays as it is.",
        ),
        Change(
            """\
            import multiprocessing as mp
            import torch.distributed as dist

            def run(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if __name__ == "__main__":
                size = 2
                for rank in range(size):
                    mp.Process(target=run, args=(rank, size)).start()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def run(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if __name__ == "__main__":
                size = 2
                run(hvd.local_rank(), size)
            """,
            note="Made and started in one line; Python waits for them at its end.",
        ),
        Change(
            """\
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, size, args):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if size > 1:
                processes = []
                for rank in range(size):
                    args.local_rank = rank
                    global_rank = rank + args.node * size
                    # of all hosts
                    print("rank", global_rank)
                    p = Process(target=run, args=(global_rank, args.nodes * size, args))
                    p.start()
                    processes.append(p)
                for p in processes:
                    p.join()
            else:
                run(0, 1, args)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def run(rank, size, args):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if size > 1:
                rank = hvd.local_rank()
                args.local_rank = rank
                global_rank = rank + args.node * size
                # of all hosts
                print("rank", global_rank)
                run(global_rank, args.nodes * size, args)
            else:
                run(0, 1, args)
            """,
            note="What is made ready for each process stays, and runs once.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import subprocess
            import sys
            import torch
            import torch.distributed as dist

            def start(rank, size):
                dist.init_process_group("nccl", rank=rank, world_size=size)
                model(x).sum().backward()

            if len(sys.argv) == 1:
                for rank in range(torch.cuda.device_count()):
                    subprocess.Popen([sys.executable] + sys.argv + [str(rank)])
            """,
            reason="what the processes do with their arguments is not known",
            reported=True,
        ),
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
        Keep(
            """\
            import torch.distributed as dist
            from multiprocessing import Process

            def run(rank):
                dist.init_process_group("gloo", rank=rank, world_size=1)

            p = Process(target=run, args=(0,))
            p.start()
            """,
            reason="one process without a loop: what else waits for it is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from multiprocessing import Process

            def prepare(number):
                print(number)

            for number in range(2):
                p = Process(target=prepare, args=(number,))
                p.start()
            dist.init_process_group("gloo")
            """,
            reason="these processes prepare something: none joins the process group",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            def counted():
                processes = []
                for rank in range(2):
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                    print(p.pid)
                    processes.append(p)
                for p in processes:
                    p.join()

            def listed(ranks):
                for rank in ranks:
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                for p in processes:
                    p.join()

            def unwaited():
                for rank in range(2):
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                print("started")

            def computed():
                processes = []
                for rank in range(2):
                    p = Process(target=run, args=(rank + 1, 2))
                    p.start()
                    processes.append(p)
                for p in processes:
                    p.join()

            def kept():
                processes = []
                for rank in range(2):
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                    last = rank
                for p in processes:
                    p.join()

            def assigned():
                for rank in range(2):
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                for p in processes:
                    code = p.exitcode

            def prepared():
                for rank in range(2):
                    prepare(rank)
                    p = Process(target=run, args=(rank, 2))
                    p.start()
                    processes.append(p)
                for p in processes:
                    p.join()

            def long():
                for rank in range(2):
                    args.local_rank = rank
                    p = Process(target=run,
                                args=(rank, 2))
                    p.start()
                for p in processes:
                    p.join()
            """,
            reason="the loop does more than start processes, or is no loop over range",
            reported=True,
        ),
    ),
)
