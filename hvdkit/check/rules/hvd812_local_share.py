"""HVD812: data is sharded by the rank within the node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.cuts import Cut, cuts
from hvdkit.check.horovod import called, mentioned, programs
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import QUESTIONS, rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

RIGHT = {"local_size": "size", "local_rank": "rank"}
SPLITS = frozenset(("numpy.array_split", "numpy.split", "torch.chunk", "torch.tensor_split"))
DEVICES = ("tensorflow.config.", "torch.cuda.")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        if mentioned(program, "cross_rank", "cross_size"):
            continue  # what a node shares out may be its own part already
        for cut in cuts(facts, program):
            # A slice may be of files that each node has of its own; a sampler and shard() say what is meant.
            finding = safe if isinstance(cut.node, ast.Call) else suggested
            for given, wrong in _counted(facts, cut):
                if given in seen:
                    continue
                seen.add(given)
                names = cut.names
                text = f"{_module(facts, names)}.{RIGHT[wrong]}()"
                message = f"on two nodes, ranks with the same {wrong} train on the same samples"
                make = (edits.replace, names.source, given, text)
                yield finding(facts, "HVD812", names, given, message, *make)


def _module(facts: Facts, names: Names) -> str:
    """What a file calls Horovod, of whichever framework; PyTorch's is imported where it calls it nothing."""
    asked = (site for site in called(facts, "init", *QUESTIONS) if site.names is names)
    functions = (site.node.func for site in asked)
    modules = (names.source.segment(f.value) for f in functions if isinstance(f, ast.Attribute))
    return next(modules, None) or horovod_name(facts, names)


def _counted(facts: Facts, cut: Cut) -> Iterator[tuple[ast.AST, str]]:
    """The numbers of a node by which a share is counted out.

    A plain index picks a device, and so does a slice of devices: `gpus[hvd.local_rank()]`.
    """
    node, names = cut.node, cut.names
    if isinstance(node, ast.Call):
        counting: list[ast.expr] = [*node.args, *(item.value for item in node.keywords)]
        counting = [part for part in counting if part is not cut.whole]
    elif isinstance(node, ast.Compare):
        counting = [node]
    elif isinstance(cut.whole, ast.Call) and facts.flow.qualified(names, cut.whole.func) & SPLITS:
        counting = [node.slice, *cut.whole.args[1:2]] if isinstance(node, ast.Subscript) else []
    elif isinstance(node, ast.Subscript) and _shares_out(facts, names, node.slice):
        counting = (
            [] if any(n.startswith(DEVICES) for n in facts.flow.made(names, cut.whole)) else [node.slice]
        )
    else:
        counting = []
    for part in counting:
        yield from _numbers(facts, names, part)


def _shares_out(facts: Facts, names: Names, index: ast.expr) -> bool:
    """`[rank::size]`, or `[rank * each : (rank + 1) * each]` with a number that is divided by a size."""
    if not isinstance(index, ast.Slice):
        return False
    return index.step is not None or any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Mult)
        and any(rank_kinds(facts).inside(names, part, kind) for kind in ("size", "local_size"))
        for part in ast.walk(index)
    )


def _numbers(facts: Facts, names: Names, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The outermost expressions that are a node's rank or size, and nothing else."""
    if isinstance(node, ast.expr):
        kinds = rank_kinds(facts).of(names, node)
        if len(kinds) == 1 and kinds <= RIGHT.keys():
            yield node, next(iter(kinds))
            return
    for child in ast.iter_child_nodes(node):
        yield from _numbers(facts, names, child)


RULE = Rule(
    id="HVD812",
    title="data is sharded by the rank within the node",
    what=(
        "On one node this is correct. On two, rank 0 of each node trains on the same samples, and with "
        "num_replicas=hvd.size() the rest of the data is never seen at all."
    ),
    why="hvd.local_rank() counts from zero on every node; hvd.rank() counts the ranks of the job.",
    safety=(
        "Safe: the rank of the job and its size are what a sampler or shard() needs; on one node they are "
        "the same numbers. Suggested for a slice or a test. A program that uses its node's number is left "
        "alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            local = hvd.local_rank()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=local)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            local = hvd.local_rank()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DistributedSampler

            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            """,
            reason="devices are counted per node, data is not",
        ),
    ),
)
