"""HVD307: shares of the data and seeds are made from the rank, not from the number within one host."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, needed
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.samplers_of_hosts import of_one_host
from hvdkit.migrate.facts.data.training_loaders import SEEDS
from hvdkit.migrate.facts.files.writers import handed
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.launch.local_numbers import is_local_rank_alone, may_be_local_rank
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.vocabulary import ASKING_SAMPLERS
from hvdkit.source.index.names import Names

MAX_CALLERS = 3
SHARE = (
    "this is a process's number on its host: on several hosts, ranks would read the same share of the data"
)
SEED = "this is a process's number on its host: on several hosts, ranks would draw the same random numbers"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*ASKING_SAMPLERS):
        first = ASKING_SAMPLERS[site.name]
        rank = given(site.node, first + 1, "rank")
        if (
            rank is None
            or not may_be_local_rank(facts, site.names, rank)
            or not _trains(facts, site.names, site.node)
        ):
            continue
        numbers = of_one_host(facts, site.names, site.node, first)
        for number, asked in numbers:
            message = SHARE if asked == "rank" else "these are the processes of one host"
            yield _suggested(facts, site.names, number, message, asked)
        if not numbers:
            yield _told(facts, site.names, rank, SHARE)
    seen: set[ast.AST] = set()
    for site in facts.calls(*SEEDS, "random.seed"):
        for argument in site.node.args[:1]:
            for names, part in _local_parts(facts, site.names, argument):
                if part not in seen and _trains(facts, names, part):
                    seen.add(part)
                    found = _suggested if is_local_rank_alone(facts, names, part) else _told
                    yield found(facts, names, part, SEED)


def _suggested(facts: Facts, names: Names, node: ast.expr, message: str, asked: str = "rank") -> Finding:
    text = f"{horovod_name(facts, names)}.{asked}()"
    return needed(facts, "HVD307", names, node, message, edits.replace, names.source, node, text)


def _told(facts: Facts, names: Names, node: ast.expr, message: str) -> Finding:
    message = message.replace("this is", "this may be", 1)
    return manual("HVD307", names, node, message, f"write {horovod_name(facts, names)}.rank() here if it is")


def _trains(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a distributed training comes to a node, and knows the ranks there."""
    programs = trained_by(facts, names, node)
    in_jobs = bool(programs) and all(program.kind == "ddp" for program in programs)
    return in_jobs and has_rank(facts, names, names.statement(node))


def _local_parts(
    facts: Facts, names: Names, seed: ast.expr, depth: int = 0
) -> Iterator[tuple[Names, ast.expr]]:
    """What is added to a seed and is a local rank: in the call, or where a function is given the seed.

    What was added to a variable before is not looked for: another place may take it away again.
    """
    if may_be_local_rank(facts, names, seed):
        yield names, seed
    elif isinstance(seed, ast.BinOp) and isinstance(seed.op, ast.Add):
        for side in (seed.left, seed.right):
            yield from _local_parts(facts, names, side, depth)
    elif isinstance(seed, ast.Name) and depth < MAX_CALLERS:
        if all(binding.kind == "param" for binding in names.bindings(seed.id, seed)):
            for where, _, one in handed(facts, names, seed):
                yield from _local_parts(facts, where, one, depth + 1)


RULE = Rule(
    id="HVD307",
    title="shares and seeds by the rank",
    what=(
        "In a distributed script where a DistributedSampler's rank, or the number added to a seed, is the "
        "local rank, writes hvd.rank(); and hvd.size() where the sampler's number of replicas is the number "
        "of GPUs."
    ),
    why=(
        "A process's number on its host equals its rank only on a single host. On two, ranks 0 and 8 read "
        "the same share of the data, and no rank reads the second half, or all of it is read twice in an "
        "epoch."
    ),
    safety=(
        "Needed: on one host nothing changes, and on several hosts the ranks do what they did on one. A "
        "number that may be something else is reported. Seeds that several statements build up stay."
    ),
    check=check,
    changes=(
        Change(
            """\
            import argparse
            import random
            import numpy as np
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP
            from torch.utils.data import DataLoader, DistributedSampler

            def seed_all(seed):
                random.seed(seed)
                torch.manual_seed(seed)

            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", type=int, default=0)
            args = parser.parse_args()
            dist.init_process_group("nccl")
            torch.cuda.set_device(args.local_rank)
            seed_all(1 + args.local_rank)
            np.random.seed(2)
            model = DDP(net)
            sampler = DistributedSampler(data, num_replicas=torch.cuda.device_count(), rank=args.local_rank)
            loader = DataLoader(data, sampler=sampler)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import argparse
            import random
            import numpy as np
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP
            from torch.utils.data import DataLoader, DistributedSampler

            def seed_all(seed):
                random.seed(seed)
                torch.manual_seed(seed)

            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", type=int, default=0)
            args = parser.parse_args()
            dist.init_process_group("nccl")
            torch.cuda.set_device(args.local_rank)
            seed_all(1 + hvd.rank())
            np.random.seed(2)
            model = DDP(net)
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            suggested=True,
            note="The device is still chosen by the local rank.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP
            from torch.utils.data import DataLoader, DistributedSampler

            dist.init_process_group("nccl")
            local_rank = int(os.environ["LOCAL_RANK"])
            seed = 1
            seed += local_rank
            torch.manual_seed(seed - local_rank)
            model = DDP(net.to(local_rank))
            loader = DataLoader(data, sampler=DistributedSampler(data, dist.get_world_size(), dist.get_rank()))
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the sampler has the rank, and the seed's offset is removed again",
            suggested=True,
        ),
    ),
)
