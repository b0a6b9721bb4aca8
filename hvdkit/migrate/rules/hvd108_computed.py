"""HVD108: ranks and sizes that the script computes become Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.launch.launch import Origin, init_argument
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.values.arguments import given
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

SPLITS = ("split", "chunk", "tensor_split", "array_split")
SAMPLER = ("torch.utils.data.Sampler", "torch.utils.data.sampler.Sampler")
ABOUT = {
    "rank": "goes to init_process_group as the rank",
    "size": "goes to init_process_group as the world size",
    "local_size": "is the number of processes that were started on this host",
}


def check(facts: Facts) -> Iterator[Finding]:
    if not facts.launch.inits:
        return
    for origin, function in facts.launch.rewritten():
        text = f"{facts.hvd(origin.names)}.{function}()"
        message = f"this value {ABOUT[function]}: {text}"
        yield facts.safe("HVD108", origin.names, origin.node, message, _define, origin, text)
        if function == "rank":
            yield from _host_numbers(facts, origin)
        if function == "size" and origin.kind == "expression":
            for read in _read_again(facts, origin):
                message = f"the same value as in line {origin.node.lineno}, which is {text} now"
                yield facts.safe(
                    "HVD108", origin.names, read, message, edits.replace, origin.names.source, read, text
                )
    yield from _unfollowed(facts)
    yield from _tests(facts)
    if facts.launch.rank_indices:
        yield from _indices(facts)


def _unfollowed(facts: Facts) -> Iterator[Finding]:
    """A rank that comes from where nothing can be followed: a configuration, another script."""
    for site in facts.launch.inits:
        given = init_argument(site.node, "rank")
        if given is None or constant(given) is not None:
            continue
        origins = facts.launch.origins(site.names, given)
        if all(o.kind == "expression" and constant(o.node) in (-1, 0) for o in origins):
            text = site.names.source.segment(given)
            message = f"where {text} gets its value, which {ABOUT['rank']}, could not be followed"
            advice = (
                f"set it to {facts.hvd(site.names)}.rank() where it is defined, if anything else reads it"
            )
            yield facts.manual("HVD108", site.names, site.node, message, advice)


def _define(origin: Origin, text: str) -> Edit:
    names, node = origin.names, origin.node
    if origin.kind == "augmented":
        return edits.replace(names.source, names.parents[node], f"{names.source.segment(node)} = {text}")
    return edits.replace(names.source, node, text)


def _read_again(facts: Facts, origin: Origin) -> Iterator[ast.expr]:
    """The reads below of what comes from outside: a parameter, or an option of a library's, `opts.gpus`."""
    names, value = origin.names, origin.node
    function = names.function(value)
    given = isinstance(value, ast.Name) and any(b.kind == "param" for b in names.bindings(value.id, value))
    if function is None or not (given or isinstance(value, ast.Attribute)):
        return
    if any(o.node is not value and constant(o.node) is None for o in facts.launch.origins(names, value)):
        return
    same = [part for part in names.walk(function) if isinstance(part, type(value)) and part is not value]
    same = [part for part in same if ast.unparse(part) == ast.unparse(value) and part.lineno > value.lineno]
    if all(isinstance(getattr(part, "ctx", None), ast.Load) for part in same):
        yield from same


def _host_numbers(facts: Facts, origin: Origin) -> Iterator[Finding]:
    """Above `args.rank = args.rank * gpus + gpu` the same variable is the number of the host, of an option."""
    names, value, statement = origin.names, origin.node, origin.names.statement(origin.node)
    hosts = [
        part for part in ast.walk(value) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
    ]
    if not isinstance(statement, ast.Assign) or statement.value is not value or not hosts:
        return
    variable = ast.unparse(statement.targets[0])
    if variable not in (ast.unparse(hosts[0].left), ast.unparse(hosts[0].right)):
        return
    for read in names.walk(names.function(value) or names.source.tree):
        if not isinstance(read, (ast.Name, ast.Attribute)) or not isinstance(read.ctx, ast.Load):
            continue
        use = names.statement(read)
        kept = isinstance(use, ast.Assign) and read in names.walk(use.value) and use.lineno < statement.lineno
        if kept and ast.unparse(read) == variable and names.function(read) is names.function(value):
            text = f"{facts.hvd(names)}.cross_rank()"
            message = f"here this is still the number of the host: {text}"
            yield facts.safe("HVD108", names, read, message, edits.replace, names.source, read, text)


def _tests(facts: Facts) -> Iterator[Finding]:
    """`ngpus_per_node > 1`: whether this is a job of several, which one process per host is as well."""
    for names in facts.files:
        if "ddp" not in facts.kinds(names):
            continue
        for node in names.of_kind(ast.Compare):
            if len(node.ops) != 1 or constant(node.comparators[0]) != 1:
                continue
            if not isinstance(node.ops[0], (ast.Gt, ast.Eq, ast.NotEq, ast.LtE)):
                continue
            if facts.launch.meaning(names, node.left) == {"local_size"} and isinstance(
                node.left, (ast.Name, ast.Attribute)
            ):
                text = f"{facts.hvd(names)}.size()"
                message = f"asks whether there are several processes, on any host: {text}"
                yield facts.safe(
                    "HVD108", names, node.left, message, edits.replace, names.source, node.left, text
                )


def _indices(facts: Facts) -> Iterator[Finding]:
    """A spawned worker's number where the script, written for one host, means the rank of the job."""
    for names, node in (
        *_compared(facts),
        *_sampled(facts),
        *_shared_out(facts),
        *_reckoned(facts),
        *_beside_device(facts),
    ):
        if isinstance(node, (ast.Name, ast.Attribute)) and is_index(facts, names, node):
            text = f"{facts.hvd(names)}.rank()"
            message = f"the worker's number was the rank as long as there was one host: {text}"
            yield facts.safe("HVD108", names, node, message, edits.replace, names.source, node, text)


def _compared(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is compared with 0."""
    for names in facts.files:
        if "ddp" not in facts.kinds(names):
            continue
        for node in names.of_kind(ast.Compare):
            if len(node.ops) == 1 and constant(node.comparators[0]) == 0:
                if isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.Gt)):
                    yield names, node.left


def _shared_out(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What picks a part of data that is split here: `index.split(n)[rank]`."""
    for names in facts.files:
        for call in (call for method in SPLITS for call in names.calls.get(method, ())):
            part = names.parents[call]
            if isinstance(part, ast.Subscript) and part.value is call and "ddp" in facts.kinds(names):
                yield names, part.slice


def _reckoned(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is reckoned together with the number of all processes: `seed * size + rank`."""
    for names in facts.files:
        if "ddp" not in facts.kinds(names):
            continue
        for node in names.of_kind(ast.BinOp):
            parts = [part for part in _terms(node) if isinstance(part, (ast.Name, ast.Attribute))]
            if len(parts) > 1 and not isinstance(names.parents[node], ast.BinOp):
                if any(_of_all(facts, names, part) for part in parts):
                    yield from ((names, part) for part in parts)


def _of_all(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number is that of all processes, or a share by it: `part = len(data) // size`."""
    if "size" in facts.launch.meaning(names, node):
        return True
    bound = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bound if binding.kind == "assign" and binding.value is not None]
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, (ast.Div, ast.FloorDiv))
        and "size" in facts.launch.meaning(names, part.right)
        for value in values
        for part in names.walk(value)
    )


def _beside_device(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is given to a call beside the size of the job and the device: nothing is left for it but the rank."""
    for names in facts.files:
        for call in names.of_kind(ast.Call) if "ddp" in facts.kinds(names) else ():
            given = [*call.args, *(item.value for item in call.keywords)]
            named = [part for part in given if isinstance(part, (ast.Name, ast.Attribute))]
            if len(named) > 2 and any("size" in facts.launch.meaning(names, part) for part in named):
                if any("torch.device" in facts.flow.made(names, part) for part in given):
                    yield from ((names, part) for part in named)


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _sampled(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What a DistributedSampler is given as its rank, and what one of the project's own is."""
    for site in facts.calls(*words.SAMPLERS):
        rank = given(site.node, words.ASKING_SAMPLERS.get(site.name, 1) + 1, "rank")
        if rank is not None:
            yield site.names, rank
    for names in facts.files:
        for owner in names.of_kind(ast.ClassDef):
            bases = {name for base in owner.bases for name in facts.flow.qualified(names, base)}
            if bases & {*words.SAMPLERS, *SAMPLER}:
                yield from _given_to(facts, owner)


def _given_to(facts: Facts, owner: ast.ClassDef) -> Iterator[tuple[Names, ast.expr]]:
    """What the calls of a project's class are given: a sampler knows no devices."""
    for names in facts.files:
        for call in names.calls.get(owner.name, ()):
            if any(value.node is owner for value in facts.flow.values(names, call.func)):
                for given in (*call.args, *(item.value for item in call.keywords)):
                    yield names, given


def is_index(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is a spawned worker's number that is the rank, or the 0 of a call without processes."""
    origins = facts.launch.origins(names, node)
    ranks = [
        origin for origin in origins if origin.kind == "index" and origin.node in facts.launch.rank_indices
    ]
    return bool(ranks) and all(o.kind == "index" or constant(o.node) == 0 for o in origins)


RULE = Rule(
    id="HVD108",
    title="computed ranks and sizes become Horovod's",
    what=(
        "Replaces what the script computes for init_process_group's rank and world_size, and the number of "
        "processes it spawns, by hvd.rank(), hvd.size() and hvd.local_size(), where the value is defined."
    ),
    why=(
        "`args.rank * ngpus_per_node + gpu` starts from a node number that nobody passes any more. Found by "
        "following what reaches init_process_group, so names do not matter."
    ),
    safety=(
        "Safe: the defined variable keeps its meaning. A count of GPUs that decided how many processes were "
        "started is the number of processes on this host, so a batch size divided by it stays right; tests of it "
        "against 1 ask for the size of the job, since there may be one process per host."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DataLoader, Subset

            size = torch.cuda.device_count()

            def worker(rank, data):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                part = int(len(data) / size)
                loader = DataLoader(Subset(data, range(rank * part, (rank + 1) * part)), shuffle=True)
                model = torch.nn.Linear(2, 1).to(rank)
                train(model, loader)

            mp.spawn(worker, args=(read(),), nprocs=size)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DataLoader, Subset

            size = hvd.size()

            def worker(rank, data):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                part = int(len(data) / size)
                loader = DataLoader(Subset(data, range(hvd.rank() * part, (hvd.rank() + 1) * part)), shuffle=True)
                model = torch.nn.Linear(2, 1).to(rank)
                train(model, loader)

            mp.spawn(worker, args=(read(),), nprocs=size)
            """,
            note="A share of the data by the number of all processes is picked by the rank, a device by the worker's number.",
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from library import parsed

            class Config(dict):
                def __getattr__(self, name):
                    return self[name]

                def __setattr__(self, name, value):
                    self[name] = value

            def worker(rank, c):
                if c.gpus > 1:
                    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

            def main():
                options = Config(parsed())
                c = Config(batch=options.batch)
                c.gpus = options.gpus
                c.batch_gpu = c.batch // options.gpus
                mp.spawn(worker, args=(c,), nprocs=c.gpus)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from library import parsed

            class Config(dict):
                def __getattr__(self, name):
                    return self[name]

                def __setattr__(self, name, value):
                    self[name] = value

            def worker(rank, c):
                if c.gpus > 1:
                    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

            def main():
                options = Config(parsed())
                c = Config(batch=options.batch)
                c.gpus = hvd.size()
                c.batch_gpu = c.batch // hvd.size()
                mp.spawn(worker, args=(c,), nprocs=c.gpus)
            """,
            note="A number that comes from outside: what is read of it again is the same number.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Endless(torch.utils.data.Sampler):
                def __init__(self, data, first, step):
                    self.data, self.first, self.step = data, first, step

            def worker(rank, size, data, seed):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                device = torch.device("cuda", rank)
                torch.manual_seed(seed * size + rank)
                sampler = Endless(data, first=rank, step=size)
                prepare(sampler, size, rank)
                measure(sampler, size, rank, device)

            def main(size, data):
                mp.spawn(worker, args=(size, data, 0), nprocs=size)

            main(int(os.environ["GPUS"]), read())
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Endless(torch.utils.data.Sampler):
                def __init__(self, data, first, step):
                    self.data, self.first, self.step = data, first, step

            def worker(rank, size, data, seed):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                device = torch.device("cuda", rank)
                torch.manual_seed(seed * size + hvd.rank())
                sampler = Endless(data, first=hvd.rank(), step=size)
                prepare(sampler, size, rank)
                measure(sampler, size, hvd.rank(), device)

            def main(size, data):
                mp.spawn(worker, args=(size, data, 0), nprocs=size)

            main(hvd.size(), read())
            """,
            note="What is reckoned with the size, or given to a sampler, or beside a device, is the rank.",
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Config(dict):
                def __getattr__(self, name):
                    return self[name]

            def worker(rank, c):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

            def main(gpus, data):
                c = Config(gpus=gpus, data=data)
                mp.spawn(worker, args=(c,), nprocs=c.gpus)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Config(dict):
                def __getattr__(self, name):
                    return self[name]

            def worker(rank, c):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

            def main(gpus, data):
                c = Config(gpus=hvd.size(), data=data)
                mp.spawn(worker, args=(c,), nprocs=c.gpus)
            """,
            note="A dict with attributes, made of keywords.",
        ),
        Change(
            """\
            import argparse
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, size, args):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            parser = argparse.ArgumentParser()
            parser.add_argument("--hosts", type=int, default=1)
            parser.add_argument("--gpus", type=int, default=1)
            args = parser.parse_args()
            args.world_size = args.hosts * args.gpus
            size = args.gpus
            if size > 1:
                for gpu in range(size):
                    rank = gpu + args.host * args.gpus
                    total = args.gpus * args.hosts
                    Process(target=run, args=(rank, total, args)).start()
            else:
                run(0, size, args)
            """,
            """\
            import argparse
            import horovod.torch as hvd
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, size, args):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            parser = argparse.ArgumentParser()
            parser.add_argument("--hosts", type=int, default=1)
            parser.add_argument("--gpus", type=int, default=1)
            args = parser.parse_args()
            args.world_size = hvd.size()
            size = hvd.size()
            if hvd.size() > 1:
                for gpu in range(size):
                    rank = hvd.rank()
                    total = hvd.size()
                    Process(target=run, args=(rank, total, args)).start()
            else:
                run(0, size, args)
            """,
            note="The processes of one host are counted by a loop; their product with the hosts is known elsewhere, too.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, ngpus, args):
                args.host, args.first = args.rank, args.rank * ngpus
                args.rank = args.rank * ngpus + gpu
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
                print(args.rank)

            def main(args):
                gpus = torch.cuda.device_count()
                mp.spawn(worker, nprocs=gpus, args=(gpus, args))
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, ngpus, args):
                args.host, args.first = hvd.cross_rank(), hvd.cross_rank() * ngpus
                args.rank = hvd.rank()
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
                print(args.rank)

            def main(args):
                gpus = hvd.local_size()
                mp.spawn(worker, nprocs=gpus, args=(gpus, args))
            """,
            note="An option that was the number of the host until it becomes the rank.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, ngpus, args):
                args.rank = args.node * ngpus + gpu
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
                args.batch_size = int(args.batch_size / ngpus)

            def main(args):
                ngpus = torch.cuda.device_count()
                args.world = ngpus * args.nodes
                if ngpus > 1:
                    mp.spawn(worker, nprocs=ngpus, args=(ngpus, args))
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, ngpus, args):
                args.rank = hvd.rank()
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
                args.batch_size = int(args.batch_size / ngpus)

            def main(args):
                ngpus = hvd.local_size()
                args.world = hvd.size()
                if hvd.size() > 1:
                    mp.spawn(worker, nprocs=ngpus, args=(ngpus, args))
            """,
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DistributedSampler

            WORLD = 2

            def setup(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            class Trainer:
                def __init__(self, gpu):
                    self.gpu = gpu

                def save(self):
                    if self.gpu == 0:
                        print("saving")

            def main(rank, size):
                setup(rank, size)
                sampler = DistributedSampler(range(8), num_replicas=size, rank=rank)
                Trainer(rank).save()

            if __name__ == "__main__":
                mp.spawn(main, args=(WORLD,), nprocs=WORLD)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DistributedSampler

            WORLD = hvd.size()

            def setup(rank, size):
                dist.init_process_group("gloo", rank=rank, world_size=size)

            class Trainer:
                def __init__(self, gpu):
                    self.gpu = gpu

                def save(self):
                    if hvd.rank() == 0:
                        print("saving")

            def main(rank, size):
                setup(rank, size)
                sampler = DistributedSampler(range(8), num_replicas=size, rank=hvd.rank())
                Trainer(rank).save()

            if __name__ == "__main__":
                mp.spawn(main, args=(WORLD,), nprocs=WORLD)
            """,
            note="On one host the worker's number was the rank; on several it is the local rank, so tests ask for the rank.",
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DistributedSampler

            def run(rank, size, several):
                if several:
                    dist.init_process_group("gloo", rank=rank, world_size=size)
                if rank == 0:
                    print("started")
                sampler = DistributedSampler(range(8), num_replicas=size, rank=rank)

            if __name__ == "__main__":
                workers = []
                for i in range(2):
                    worker = mp.Process(target=run, args=(i, 2, True))
                    workers.append(worker)
                    worker.start()
                for worker in workers:
                    worker.join()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data import DistributedSampler

            def run(rank, size, several):
                if several:
                    dist.init_process_group("gloo", rank=rank, world_size=size)
                if hvd.rank() == 0:
                    print("started")
                sampler = DistributedSampler(range(8), num_replicas=size, rank=hvd.rank())

            if __name__ == "__main__":
                workers = []
                for i in range(2):
                    worker = mp.Process(target=run, args=(i, hvd.size(), True))
                    workers.append(worker)
                    worker.start()
                for worker in workers:
                    worker.join()
            """,
            note="The number that a loop gives to each process is that of a worker, too.",
        ),
        Change(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Job:
                def work(self, rank, size):
                    dist.init_process_group("gloo", rank=rank, world_size=size)
                    if rank == 0:
                        print("started")

                def start(self):
                    mp.spawn(self.work, args=(4,), nprocs=4)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            class Job:
                def work(self, rank, size):
                    dist.init_process_group("gloo", rank=rank, world_size=size)
                    if hvd.rank() == 0:
                        print("started")

                def start(self):
                    mp.spawn(self.work, args=(hvd.size(),), nprocs=hvd.local_size())
            """,
            note="A method gets its number after self.",
        ),
        Change(
            """\
            import torch.distributed as dist

            def launch(size, config):
                size *= config.nodes
                dist.init_process_group("gloo", rank=config.index(), world_size=size)
                return size
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def launch(size, config):
                size = hvd.size()
                dist.init_process_group("gloo", rank=config.index(), world_size=size)
                return size
            """,
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            def world():
                return int(os.environ["WORLD_SIZE"])

            def slurm():
                node, local = int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_LOCALID"])
                rank = node * 8 + local
                return rank

            def main():
                rank, device = slurm(), 0
                dist.init_process_group("nccl", rank=int(rank), world_size=world())

            main()
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist

            def world():
                return int(os.environ["WORLD_SIZE"])

            def slurm():
                node, local = int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_LOCALID"])
                rank = hvd.rank()
                return rank

            def main():
                rank, device = slurm(), 0
                dist.init_process_group("nccl", rank=int(rank), world_size=world())

            main()
            """,
            note="Through int(), functions that return it, and tuples.",
        ),
        Change(
            """\
            import torch.distributed as dist

            def placed(args):
                return args.node * args.gpus + args.gpu, args.nodes * args.gpus

            def main(args):
                rank, world_size = placed(args)
                dist.init_process_group("nccl", rank=rank, world_size=world_size)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            def placed(args):
                return hvd.rank(), hvd.size()

            def main(args):
                rank, world_size = placed(args)
                dist.init_process_group("nccl", rank=rank, world_size=world_size)
            """,
            note="Two answers of one function.",
        ),
        Change(
            """\
            import torch.distributed as dist
            import config
            from config import WORLD_SIZE

            if __name__ == "__main__":
                config.RANK = config.NODE * 8 + config.GPU
                dist.init_process_group("nccl", rank=config.RANK, world_size=WORLD_SIZE)
                print(config.RANK == 0)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import config
            from config import WORLD_SIZE

            if __name__ == "__main__":
                config.RANK = hvd.rank()
                dist.init_process_group("nccl", rank=config.RANK, world_size=WORLD_SIZE)
                print(config.RANK == 0)
            """,
            note="Settings of a module of the project, through either form of import.",
            files=(
                (
                    "config.py",
                    """\
NODE = 0
GPU = 1
RANK = -1
WORLD_SIZE = 16
""",
                ),
            ),
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data.distributed import DistributedSampler

            class Buckets(DistributedSampler):
                def __init__(self, dataset, sizes, num_replicas=None, rank=None):
                    super().__init__(dataset, num_replicas, rank)

            def worker(rank, count):
                dist.init_process_group("nccl", rank=rank, world_size=count)
                torch.cuda.set_device(rank)
                sampler = Buckets(data, [1, 2], count, rank=rank)

            if __name__ == "__main__":
                count = torch.cuda.device_count()
                mp.spawn(worker, nprocs=count, args=(count,))
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.utils.data.distributed import DistributedSampler

            class Buckets(DistributedSampler):
                def __init__(self, dataset, sizes, num_replicas=None, rank=None):
                    super().__init__(dataset, num_replicas, rank)

            def worker(rank, count):
                dist.init_process_group("nccl", rank=rank, world_size=count)
                torch.cuda.set_device(rank)
                sampler = Buckets(data, [1, 2], count, rank=hvd.rank())

            if __name__ == "__main__":
                count = hvd.size()
                mp.spawn(worker, nprocs=count, args=(count,))
            """,
            note="On several hosts the worker's number chooses the device; the data are divided by the rank.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(rank, size, index):
                dist.init_process_group("nccl", rank=rank, world_size=size)
                mine = index.split(len(index) // size)[rank]
                name = "a b".split()[0]

            if __name__ == "__main__":
                size = torch.cuda.device_count()
                mp.spawn(run, args=(size, torch.arange(100)), nprocs=size)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(rank, size, index):
                dist.init_process_group("nccl", rank=rank, world_size=size)
                mine = index.split(len(index) // size)[hvd.rank()]
                name = "a b".split()[0]

            if __name__ == "__main__":
                size = hvd.size()
                mp.spawn(run, args=(size, torch.arange(100)), nprocs=size)
            """,
            note="A part of the data for each rank of the job, not for each of a host.",
        ),
        Change(
            """\
            import sampling
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(worker, workers, data):
                job = sampling.job()
                dist.init_process_group("nccl", rank=job.rank, world_size=job.size)
                mine = data.split(len(data) // workers)[worker]

            mp.spawn(run, args=(2, sampling.of_this_host()), nprocs=2)
            """,
            """\
            import sampling
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def run(worker, workers, data):
                job = sampling.job()
                # hvdkit: TODO[HVD108] set it to hvd.rank() where it is defined, if anything else reads it
                dist.init_process_group("nccl", rank=job.rank, world_size=job.size)
                mine = data.split(len(data) // workers)[worker]

            mp.spawn(run, args=(2, sampling.of_this_host()), nprocs=hvd.local_size())
            """,
            note="This worker's number is no rank, whatever scripts for one host stand beside it.",
            files=(
                (
                    "one_host.py",
                    "import torch.distributed as dist\nimport torch.multiprocessing as mp\n\n\ndef run(rank, size):\n"
                    "    dist.init_process_group('nccl', rank=rank, world_size=size)\n\n\n"
                    "mp.spawn(run, args=(2,), nprocs=2)\n",
                ),
            ),
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from library import options, worker

            class Config(dict):
                def __init__(self, gpus):
                    super().__init__()
                    self["gpus"] = gpus // 2

                def __getattr__(self, name):
                    return self[name]

            def run(rank, config):
                dist.init_process_group("gloo", rank=rank, world_size=config.gpus)

            def main():
                config = Config(gpus=options.gpus)
                mp.spawn(run, args=(config,), nprocs=config.gpus)
            """,
            reason="what the class makes of its argument, the argument does not say",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            ngpus = torch.cuda.device_count()
            dist.init_process_group("nccl")
            batch = 32 * ngpus
            """,
            reason="the number of GPUs is not used to start processes, so it means what it says",
        ),
        Keep(
            """\
            import os
            import torch.distributed as dist

            rank = int(os.environ["RANK"])
            size = dist.get_world_size() if dist.is_initialized() else 1
            dist.init_process_group("nccl", rank=rank, world_size=size)
            """,
            reason="what the environment or torch.distributed says has rules of its own; 1 is a process on its own",
        ),
        Keep(
            """\
            import torch.distributed as dist

            def start(config):
                dist.init_process_group("nccl", rank=config.dist.rank, world_size=config.dist.size)
                return config.dist.rank == 0
            """,
            reason="no file that is seen sets the configuration's rank: whoever started the processes did",
            reported=True,
        ),
    ),
)
