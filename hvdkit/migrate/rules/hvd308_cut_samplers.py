"""HVD308: Lhotse's samplers are told rank and size, which they would ask the process group for."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import started
from hvdkit.migrate.plan import Finding

# Lhotse's classes that take world_size and rank, where each stands; BucketingSampler hands them on.
CLASSES = {
    "BucketingSampler": "bucketing",
    "CutPairsSampler": "cut_pairs",
    "DynamicBucketingSampler": "dynamic_bucketing",
    "DynamicCutSampler": "dynamic",
    "SimpleCutSampler": "simple",
    "SingleCutSampler": "single_cut",
    "WeightedSimpleCutSampler": "weighted_simple",
}
SAMPLERS = tuple(
    f"lhotse.dataset.{module}{name}"
    for name, file in CLASSES.items()
    for module in ("", "sampling.", f"sampling.{file}.")
)
# The keyword -> Horovod's function, and what holds in a process that is alone.
TOLD = {"world_size": ("size", 1), "rank": ("rank", 0)}


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*SAMPLERS):
        names, call = site.names, site.node
        given = {keyword.arg for keyword in call.keywords}
        missing = [name for name in TOLD if name not in given]
        if "ddp" not in kinds_of(facts, names) or not missing:
            continue
        message = f"this sampler gets {' and '.join(missing)}: there is no process group to ask"
        if None in given:
            advice = f"pass {', '.join(_told(facts, site, missing))}, unless they are among what ** passes"
            yield manual("HVD308", names, call, message, advice)
            continue
        added = _told(facts, site, missing)
        yield safe(facts, "HVD308", names, call, message, edits.add_arguments, names.source, call, added)


def _told(facts: Facts, site: Site, missing: list[str]) -> list[str]:
    """The arguments; a program that runs this and never calls hvd.init() keeps all of the data."""
    hvd = horovod_name(facts, site.names)
    alone = False in started(facts, site.names, site.node)
    told = []
    for name in missing:
        function, lone = TOLD[name]
        value = f"{hvd}.{function}()"
        told.append(f"{name}={value} if {hvd}.is_initialized() else {lone}" if alone else f"{name}={value}")
    return told


RULE = Rule(
    id="HVD308",
    title="Lhotse's samplers get rank and size from Horovod",
    what=(
        "Adds world_size=hvd.size() and rank=hvd.rank() to the samplers of Lhotse that leave them out, in "
        "programs that torch.distributed starts today."
    ),
    why=(
        "They ask torch.distributed, or torchrun's environment, and where neither is set they assume a "
        "single process: every rank would train on the same batches, without an error."
    ),
    safety=(
        "Safe: the same shares in the same order as under DDP. Where a program that starts no job runs the "
        "line, too, it first tests whether Horovod is initialized."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist
            from lhotse.dataset import DynamicBucketingSampler
            from lhotse.dataset.sampling import SimpleCutSampler
            from torch.utils.data import DataLoader

            dist.init_process_group("nccl")
            train = DataLoader(data, sampler=DynamicBucketingSampler(cuts, max_duration=200.0), batch_size=None)
            rest = SimpleCutSampler(others, rank=dist.get_rank())
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            from lhotse.dataset import DynamicBucketingSampler
            from lhotse.dataset.sampling import SimpleCutSampler
            from torch.utils.data import DataLoader

            dist.init_process_group("nccl")
            train = DataLoader(data, sampler=DynamicBucketingSampler(cuts, max_duration=200.0, world_size=hvd.size(), rank=hvd.rank()), batch_size=None)
            rest = SimpleCutSampler(others, rank=dist.get_rank(), world_size=hvd.size())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            from lhotse.dataset import DynamicCutSampler

            dist.init_process_group("nccl")
            every = DynamicCutSampler(cuts, max_duration=200.0, world_size=1, rank=0)
            """,
            reason="it is set already: each rank iterates over all of it",
        ),
    ),
)
