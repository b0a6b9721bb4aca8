"""HVD106: mp.spawn(worker, ...) becomes one call of the worker; the launcher starts the processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.launch import Spawn
from hvdkit.migrate.facts.launch.launched_processes import leads_to_init
from hvdkit.migrate.facts.launch.starts import run_by_nobody
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

WORK = frozenset(("torch.load", "torch.save"))


def check(facts: Facts) -> Iterator[Finding]:
    for spawn in facts.launch.spawns:
        names = spawn.names
        if "ddp" not in facts.kinds(names):
            continue
        statement = names.statement(spawn.node)
        worker = names.source.segment(spawn.worker)
        if not leads_to_init(facts, names, spawn.worker):
            if any(run_by_nobody(facts, site.names, site.node) for site in facts.launch.inits):
                message = f"whether {worker} comes to where the process group is made was not followed"
                advice = (
                    f"call {worker}(hvd.local_rank(), ...) once if it does: horovodrun starts the processes"
                )
                yield facts.manual("HVD106", names, spawn.node, message, advice)
            continue
        if not isinstance(statement, ast.Expr) or statement.value is not spawn.node:
            message = "the spawned processes are waited for by hand"
            advice = f"call {worker}(hvd.local_rank(), ...) once; horovodrun starts the processes and waits for them"
            yield facts.manual("HVD106", names, spawn.node, message, advice)
            continue
        message = f"horovodrun starts the processes: each calls {worker} once"
        after = _work_after(facts, names, statement)
        if after is None and edits.following(names, statement) is not None:
            message += "; what follows ran once per host and now runs in every process"
        yield facts.safe("HVD106", names, spawn.node, message, _edits, facts, spawn)
        if after is not None:
            hvd = facts.hvd(names)
            message = "this ran once per host, when all workers had ended, and now runs in every process"
            advice = (
                f"put it under `if {hvd}.local_rank() == 0:`, with {hvd}.barrier() above, "
                f"and {hvd}.shutdown(), where the worker calls it, below"
            )
            yield facts.manual("HVD106", names, after, message, advice)


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
    head = f"{_called(source.segment(spawn.worker), spawn.worker)}({facts.hvd(spawn.names)}.local_rank()"
    if spawn.args is None or (isinstance(spawn.args, (ast.Tuple, ast.List)) and not spawn.args.elts):
        return [edits.replace(source, call, f"{head})")]
    if isinstance(spawn.args, (ast.Tuple, ast.List)):
        first, last = spawn.args.elts[0], spawn.args.elts[-1]
        before = source.text[source.start(spawn.args) : source.start(first)]
        if "#" in before or before.count("(") > 1:
            raise edits.CannotEdit("its arguments are written in a way that cannot be taken over")
        tail = source.text[source.end(last) : source.end(spawn.args)]
        if tail.count(")") > 1 or "#" in tail:
            raise edits.CannotEdit("its arguments are written in a way that cannot be taken over")
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
        "horovodrun starts one process per GPU. A process that spawns again would make n jobs of n processes, "
        "none of which Horovod connects."
    ),
    safety=(
        "Safe where the spawn is a statement of its own and its worker makes the process group: spawn's first "
        "argument to the worker is the process's number on this host, which is the local rank."
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
        Change(
            """\
            import torch
            from tools import start

            def main(options):
                torch.multiprocessing.spawn(start, (options,), options.gpus)
            """,
            """\
            import horovod.torch as hvd
            from tools import start

            def main(options):
                start(hvd.local_rank(), options)
            """,
            files=(
                (
                    "tools.py",
                    "import torch.distributed as dist\n\ndef start(gpu, options):\n"
                    "    dist.init_process_group('gloo', rank=gpu, world_size=options.gpus)\n",
                ),
            ),
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def run(gpu, a, b):
                dist.init_process_group("gloo")

            packed = (1, 2)
            torch.multiprocessing.spawn(run, nprocs=2, args=packed)
            torch.multiprocessing.start_processes(
                run,
                args=(
                    1,
                    2,
                ),
                nprocs=2,
            )
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def run(gpu, a, b):
                dist.init_process_group("gloo")

            packed = (1, 2)
            run(hvd.local_rank(), *packed)
            run(hvd.local_rank(), 1,
                    2)
            """,
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size, port):
                dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=size)

            if __name__ == "__main__":
                arguments = (4, 29500)
                mp.spawn(worker, arguments, 4)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def worker(rank, size, port):
                dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=size)

            if __name__ == "__main__":
                arguments = (4, 29500)
                worker(hvd.local_rank(), *arguments)
            """,
            note="Arguments from a variable.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def worker(gpu, size):
                dist.init_process_group("nccl", rank=gpu, world_size=size)

            def main(size):
                runner = torch.multiprocessing.start_processes
                runner(worker, args=(size,), nprocs=size, start_method="fork")
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def worker(gpu, size):
                dist.init_process_group("nccl", rank=gpu, world_size=size)

            def main(size):
                runner = torch.multiprocessing.start_processes
                worker(hvd.local_rank(), size)
            """,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Trainer:
                def __init__(self, rank, size):
                    self.rank = rank
                    dist.init_process_group("nccl", rank=rank, world_size=size)
                    self.train()

                def train(self):
                    if self.rank == 0:
                        torch.save({}, "start.pt")

            if __name__ == "__main__":
                mp.spawn(Trainer, nprocs=4, args=(4,))
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            class Trainer:
                def __init__(self, rank, size):
                    self.rank = rank
                    dist.init_process_group("nccl", rank=rank, world_size=size)
                    self.train()

                def train(self):
                    if self.rank == 0:
                        torch.save({}, "start.pt")

            if __name__ == "__main__":
                Trainer(hvd.local_rank(), 4)
            """,
            note="The worker is a class: its __init__ is what the processes run.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, path):
                dist.init_process_group("gloo")
                torch.save(train(gpu), path)

            def test(path):
                print(torch.load(path))

            if __name__ == "__main__":
                mp.spawn(worker, args=("best.pt",), nprocs=2)
                test("best.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def worker(gpu, path):
                dist.init_process_group("gloo")
                torch.save(train(gpu), path)

            def test(path):
                print(torch.load(path))

            if __name__ == "__main__":
                worker(hvd.local_rank(), "best.pt")
                # hvdkit: TODO[HVD106] put it under `if hvd.local_rank() == 0:`, with hvd.barrier() above, and hvd.shutdown(), where the worker calls it, below
                test("best.pt")
            """,
            note="The parent waited for its workers.",
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
        Keep(
            """\
            import torch
            from hydra.utils import instantiate
            from trainer import KEY

            def worker(gpu, config):
                print(KEY)
                instantiate(config.trainer).run()

            torch.multiprocessing.spawn(worker, args=(config,), nprocs=2)
            """,
            reason="a configuration names the class that makes the process group: what runs it is not seen",
            reported=True,
            files=(
                (
                    "trainer.py",
                    "import torch.distributed as dist\n\nKEY = 1\n\nclass Trainer:\n    def run(self):\n"
                    "        dist.init_process_group('nccl')\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu):
                dist.init_process_group("gloo")

            context = mp.spawn(worker, nprocs=2, join=False)
            context.join()
            """,
            reason="the person waits for the processes by hand, and what else hangs on them is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if __name__ == "__main__":
                context = mp.spawn(worker, args=(4,), nprocs=4, join=False)
                while not context.join():
                    pass
            """,
            reason="the processes are joined by hand: what stands between is the parent's own",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if __name__ == "__main__":
                mp.spawn(
                    worker,
                    args=(  # the rank comes first
                        4,
                    ),
                    nprocs=4,
                )
            """,
            reason="a comment among the arguments would be lost, or stand where it says nothing",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            if __name__ == "__main__":
                mp.spawn(
                    worker,
                    args=(
                        4,  # processes
                    ),
                    nprocs=4,
                )
            """,
            reason="a comment stands behind the last argument",
            reported=True,
        ),
        Keep(
            """\
            import torch.multiprocessing as mp
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def even(n):
                return n == 0 or odd(n - 1)

            def odd(n):
                return n != 0 and even(n - 1)

            def preprocess(index, folder):
                print(even(index), folder)

            if __name__ == "__main__":
                mp.spawn(preprocess, args=("data",), nprocs=4)
                dist.init_process_group("nccl")
                model = DDP(net)
            """,
            reason="the workers never meet: no process group is made in them, whatever they call",
        ),
    ),
)
