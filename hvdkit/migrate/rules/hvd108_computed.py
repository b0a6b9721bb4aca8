"""HVD108: ranks and sizes that the script computes become Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.beside_definitions import (
    host_numbers,
    read_again,
    tests_for_several,
    unfollowed,
)
from hvdkit.migrate.facts.launch.launch import Origin
from hvdkit.migrate.facts.launch.worker_numbers import numbers_for_rank
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

ABOUT = {
    "rank": "goes to init_process_group as the rank",
    "local_rank": "is the number of the process's GPU, and goes to init_process_group as the rank",
    "size": "goes to init_process_group as the world size",
    "local_size": "is the number of processes that were started on this host",
}


def check(facts: Facts) -> Iterator[Finding]:
    if not facts.launch.inits:
        return
    for origin, function in facts.launch.rewritten():
        names, node = origin.names, origin.node
        text = f"{facts.hvd(names)}.{function}()"
        message = f"this value {ABOUT[function]}: {text}"
        yield facts.safe("HVD108", names, node, message, _define, origin, text)
        if function == "rank":
            for read in host_numbers(origin):
                yield _read(facts, names, read, "cross_rank", "here this is still the number of the host")
        if function == "size" and origin.kind == "expression":
            for read in read_again(facts, origin):
                message = f"the same value as in line {names.line(node)}, which is {text} now"
                yield facts.safe("HVD108", names, read, message, edits.replace, names.source, read, text)
    for site, given, function in unfollowed(facts):
        text = site.names.source.segment(given)
        message = f"where {text} gets its value, which {ABOUT[function]}, could not be followed"
        advice = f"set {text} to {facts.hvd(site.names)}.{function}() where it is defined, if anything else reads it"
        yield facts.manual("HVD108", site.names, site.node, message, advice)
    for names, number in tests_for_several(facts):
        yield _read(facts, names, number, "size", "asks whether there are several processes, on any host")
    for names, number in numbers_for_rank(facts):
        why = "the worker's number was the rank as long as there was one host"
        yield _read(facts, names, number, "rank", why)


def _read(facts: Facts, names: Names, number: ast.expr, function: str, why: str) -> Finding:
    """One read of a number that becomes a call of Horovod's."""
    text = f"{facts.hvd(names)}.{function}()"
    return facts.safe("HVD108", names, number, f"{why}: {text}", edits.replace, names.source, number, text)


def _define(origin: Origin, text: str) -> Edit:
    names, node = origin.names, origin.node
    if origin.kind == "augmented":
        return edits.replace(names.source, names.parents[node], f"{names.source.segment(node)} = {text}")
    return edits.replace(names.source, node, text)


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
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def save(model, name, rank=0):
                if rank != 0:
                    return
                torch.save(model.state_dict(), name)

            def worker(rank, size, data):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                model = torch.nn.Linear(2, 1)
                if not train(model, data):
                    save(model, f"failed-{dist.get_rank()}.pt", rank=0)
                save(model, "last.pt", rank=rank)

            def main(size, data):
                mp.spawn(worker, args=(size, data), nprocs=size)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def save(model, name, rank=0):
                if rank != 0:
                    return
                torch.save(model.state_dict(), name)

            def worker(rank, size, data):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
                model = torch.nn.Linear(2, 1)
                if not train(model, data):
                    save(model, f"failed-{dist.get_rank()}.pt", rank=0)
                save(model, "last.pt", rank=hvd.rank())

            def main(size, data):
                mp.spawn(worker, args=(size, data), nprocs=size)
            """,
            note="Each worker that fails is to save, and says so by a 0: it is no rank.",
        ),
        Change(
            """\
            import os
            import random
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def seed_all(seed):
                os.environ["PYTHONHASHSEED"] = str(seed)
                random.seed(seed)
                torch.manual_seed(seed)

            def prepare(gpu):
                torch.manual_seed(gpu)
                torch.cuda.set_device(gpu)

            def worker(rank, args):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=args.size)
                prepare(rank)
                seed_all(args.seed + rank)
                draws = torch.Generator().manual_seed(1000 * args.seed + rank)

            def main(args):
                mp.spawn(worker, args=(args,), nprocs=args.size)
            """,
            """\
            import os
            import random
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def seed_all(seed):
                os.environ["PYTHONHASHSEED"] = str(seed)
                random.seed(seed)
                torch.manual_seed(seed)

            def prepare(gpu):
                torch.manual_seed(hvd.rank())
                torch.cuda.set_device(gpu)

            def worker(rank, args):
                dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=args.size)
                prepare(rank)
                seed_all(args.seed + hvd.rank())
                draws = torch.Generator().manual_seed(1000 * args.seed + hvd.rank())

            def main(args):
                mp.spawn(worker, args=(args,), nprocs=args.size)
            """,
            note="A seed by the worker's number is one by the rank: the workers of two hosts draw differently.",
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
                # hvdkit: TODO[HVD108] set job.rank to hvd.rank() where it is defined, if anything else reads it
                # hvdkit: TODO[HVD108] set job.size to hvd.size() where it is defined, if anything else reads it
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
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def work(gpu, count, several):
                if several:
                    rank = node() * count + gpu
                else:
                    rank = gpu
                if several:
                    dist.init_process_group("nccl", rank=rank, world_size=count * nodes())

            count, device = torch.cuda.device_count(), torch.cuda.current_device()
            if several():
                mp.spawn(work, args=(count, True), nprocs=count)
            else:
                work(device, count, False)
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def work(gpu, count, several):
                if several:
                    rank = hvd.rank()
                else:
                    rank = gpu
                if several:
                    dist.init_process_group("nccl", rank=rank, world_size=count * nodes())

            count, device = hvd.local_size(), hvd.local_rank()
            if several():
                mp.spawn(work, args=(count, True), nprocs=count)
            else:
                work(device, count, False)
            """,
            note="The number of the current GPU is one of its host, where it seems to become the rank, too.",
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
