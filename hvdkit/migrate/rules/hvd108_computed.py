"""HVD108: ranks and sizes that the script computes become Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.launch import Origin, launch_of
from hvdkit.migrate.facts.launch.rank_definitions import (
    host_numbers,
    ranks_from_outside,
    read_again,
    tests_for_several,
)
from hvdkit.migrate.facts.launch.worker_numbers import numbers_for_rank
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

ABOUT = {
    "rank": "is passed to init_process_group as the rank",
    "local_rank": "is the number of the process's GPU, and is passed to init_process_group as the rank",
    "size": "is passed to init_process_group as the world size",
    "local_size": "is the number of processes that were started on this host",
}


def check(facts: Facts) -> Iterator[Finding]:
    if not launch_of(facts).inits:
        return
    for origin, function in launch_of(facts).rewritten():
        names, node = origin.names, origin.node
        text = f"{horovod_name(facts, names)}.{function}()"
        message = f"this value {ABOUT[function]}: {text}"
        yield safe(facts, "HVD108", names, node, message, _define, origin, text)
        if function == "rank":
            for read in host_numbers(origin):
                yield _read(facts, names, read, "cross_rank", "here this is still the host's number")
        if function == "size" and origin.kind == "expression":
            for read in read_again(facts, origin):
                message = f"the same value as in line {names.line(node)}, which is {text} now"
                yield safe(facts, "HVD108", names, read, message, edits.replace, names.source, read, text)
    for site, given, function in ranks_from_outside(facts):
        text = site.names.source.segment(given)
        message = f"where {text} gets its value, which {ABOUT[function]}, could not be followed"
        advice = f"set {text} to {horovod_name(facts, site.names)}.{function}() where it is defined, if anything else reads it"
        yield manual("HVD108", site.names, site.node, message, advice)
    for names, number in tests_for_several(facts):
        yield _read(facts, names, number, "size", "tests whether there are several processes, on any host")
    for names, number in numbers_for_rank(facts):
        why = "the worker's number equals the rank only on a single host"
        yield _read(facts, names, number, "rank", why)


def _read(facts: Facts, names: Names, number: ast.expr, function: str, why: str) -> Finding:
    """One read of a number that becomes a call of Horovod's."""
    text = f"{horovod_name(facts, names)}.{function}()"
    return safe(facts, "HVD108", names, number, f"{why}: {text}", edits.replace, names.source, number, text)


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
        "`args.rank * ngpus_per_node + gpu` starts from a node number that is no longer passed. Found by "
        "following what reaches init_process_group, so names do not matter."
    ),
    safety=(
        "Safe: the defined variable keeps its meaning. A count of GPUs that decided how many processes were "
        "started is the number of processes on this host, so a batch size divided by it stays right; tests "
        "of it against 1 ask for the size of the job, since there may be one process per host."
    ),
    check=check,
    changes=(
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
            reason="what the class does with its argument cannot be read from the argument",
        ),
    ),
)
