"""HVD508: monitored_barrier becomes barrier."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import is_world
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given

BARRIER = "torch.distributed.monitored_barrier"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(BARRIER):
        names, call = site.names, site.node
        text = f"{horovod_name(facts, names)}.barrier()"
        group = given(call, 0, "group")
        if group is not None and not is_world(facts, names, group):
            message = "a group of ranks is waited for"
            advice = f"make the group a process set, and call {text[:-1]}process_set=...)"
            yield manual("HVD508", names, call, message, advice)
            continue
        message = "monitored_barrier becomes barrier; HOROVOD_STALL_SHUTDOWN_TIME_SECONDS is its timeout"
        yield safe(facts, "HVD508", names, call, message, edits.recast, names.source, call, [text])


RULE = Rule(
    id="HVD508",
    title="monitored_barrier",
    what="Replaces monitored_barrier by hvd.barrier.",
    why="There is no longer a process group to wait in.",
    safety="Safe: same meaning. The barrier's timeout becomes an environment variable.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.monitored_barrier(timeout=limit)
            """,
            """\
            import horovod.torch as hvd

            hvd.barrier()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import threading

            threading.monitored_barrier()
            """,
            reason="another library's function of that name",
        ),
    ),
)
