"""HVD811: a DistributedSampler asks torch.distributed, which was never started, for its rank."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import unpacks

PARAMETERS = ("dataset", "num_replicas", "rank")


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    grouped = {site.names for site in facts.calls(words.INIT)}
    if any(names in grouped for names in files):
        return
    for site in facts.calls("torch.utils.data.DistributedSampler"):
        if site.names not in files or unpacks(site.node):
            continue
        given = {*PARAMETERS[: len(site.node.args)], *(k.arg for k in site.node.keywords)}
        hvd = horovod_name(facts, site.names)
        missing = [
            f"{parameter}={hvd}.{question}()"
            for parameter, question in (("num_replicas", "size"), ("rank", "rank"))
            if parameter not in given
        ]
        if missing:
            message = "this sampler gets its rank from torch.distributed, and there is no process group"
            yield safe(
                facts,
                "HVD811",
                site.names,
                site.node,
                message,
                edits.add_arguments,
                site.names.source,
                site.node,
                missing,
            )


RULE = Rule(
    id="HVD811",
    title="a DistributedSampler without num_replicas and rank",
    what='It raises "Default process group has not been initialized" when it is made.',
    why="its defaults come from torch.distributed; a Horovod job does not initialize it.",
    safety="Safe: the arguments are the values that the sampler would look up. A program with a process group is left alone.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, shuffle=True)
            other = DistributedSampler(data, num_replicas=hvd.size())
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, shuffle=True, num_replicas=hvd.size(), rank=hvd.rank())
            other = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, hvd.size(), hvd.rank())
            options = DistributedSampler(data, **settings)
            """,
            reason="both are given, or may be",
        ),
    ),
)
