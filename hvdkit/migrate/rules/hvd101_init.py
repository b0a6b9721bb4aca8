"""HVD101: init_process_group becomes hvd.init()."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.ranks import rank_reads
from hvdkit.migrate.facts.vocabulary import INIT
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(INIT):
        message = "init_process_group becomes hvd.init(); the launcher gives rank, size and addresses"
        yield facts.safe("HVD101", site.names, site.node, message, _edits, facts, site)


def _edits(facts: Facts, site: Site) -> list[Edit]:
    names, call = site.names, site.node
    init = f"{facts.hvd(names)}.init()"
    statement = names.statement(call)
    earlier = _earlier_read(facts, site)
    if earlier is not None and isinstance(statement, ast.Expr):
        return [edits.before(names.source, earlier, [init]), edits.delete(names, statement)]
    return [edits.replace(names.source, call, init)]


def _earlier_read(facts: Facts, site: Site) -> ast.stmt | None:
    """The statement above init, in a block around it, that first reads a rank: Horovod has none before init."""
    names = site.names
    around = [names.statement(site.node), *names.ancestors(names.statement(site.node))]
    function = names.function(site.node)
    found: list[ast.stmt] = []
    for read in rank_reads(facts):
        if read.names is not names or names.function(read.node) is not function:
            continue
        if read.node.lineno >= site.node.lineno:
            continue
        statement = names.statement(read.node)
        for candidate in (statement, *names.ancestors(statement)):
            if isinstance(candidate, ast.stmt) and names.parents.get(candidate) in around:
                found.append(candidate)
                break
    return min(found, key=lambda s: s.lineno) if found else None


RULE = Rule(
    id="HVD101",
    title="init_process_group becomes hvd.init()",
    what="Replaces torch.distributed.init_process_group(...) by hvd.init(), above the first line that needs a rank.",
    why=(
        "Horovod's launcher tells every process its rank and how to find the others. Backend, init_method, rank, "
        "world_size and store have no meaning there: Horovod chose its operations when it was built."
    ),
    safety="Safe: hvd.init() may be called more than once, and nothing else of the script reads the process group.",
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            dist.init_process_group("nccl", init_method="env://")
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            """,
        ),
        Change(
            """\
            import os
            import torch
            from torch.distributed import init_process_group

            def main():
                local_rank = int(os.environ["LOCAL_RANK"])
                torch.cuda.set_device(local_rank)
                init_process_group(backend="nccl")
                train(local_rank)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            def main():
                hvd.init()
                local_rank = int(os.environ["LOCAL_RANK"])
                torch.cuda.set_device(local_rank)
                train(local_rank)
            """,
            note="Horovod knows no rank before init, so it moves above the first line that reads one.",
        ),
    ),
    keeps=(
        Keep(
            """\
            def init_process_group(backend):
                return backend

            init_process_group("nccl")
            """,
            reason="the script's own function of that name is not torch's",
        ),
    ),
)
