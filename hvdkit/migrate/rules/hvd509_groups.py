"""HVD509: a new group of all ranks is Horovod's global process set; groups of some ranks are left to you."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import NEW_GROUP, of_all_ranks
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding

ADVICE = (
    'write hvd.add_process_set(ranks) after hvd.init(process_sets="dynamic"), the same sets in the same order '
    "on all ranks, and run hvdkit migrate again: it uses them in the collectives"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(NEW_GROUP):
        names, call = site.names, site.node
        if not of_all_ranks(facts, names, call) or any(keyword.arg is None for keyword in call.keywords):
            message = "a group of some of the ranks becomes a process set, which every rank has to create"
            yield manual("HVD509", names, call, message, ADVICE)
            continue
        text = f"{horovod_name(facts, names)}.global_process_set"
        message = "a group of all ranks is Horovod's global process set"
        yield safe(facts, "HVD509", names, call, message, edits.recast, names.source, call, [text])


RULE = Rule(
    id="HVD509",
    title="groups of ranks",
    what="Replaces a new_group of all ranks by hvd.global_process_set, and reports groups of some ranks.",
    why="Groups belong to the process group; Horovod's process sets must be announced when it starts.",
    safety="Safe for all ranks. A group of some ranks is left to you, with what to write.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            on_cpu = dist.new_group(backend="gloo")
            """,
            """\
            import horovod.torch as hvd

            on_cpu = hvd.global_process_set
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            pair = hvd.add_process_set([0, 1])
            """,
            reason="it is a process set already",
        ),
    ),
)
