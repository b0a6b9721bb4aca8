"""HVD102: RANK, WORLD_SIZE and LOCAL_RANK come from Horovod, not from torchrun's environment."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.ranks import ENVIRONMENT, rank_reads
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for read in rank_reads(facts):
        if read.source not in ENVIRONMENT or "ddp" not in facts.kinds(read.names):
            continue
        call = f"{facts.hvd(read.names)}.{read.function}()"
        text = call if read.number else f"str({call})"
        message = f"{read.source} is not set by horovodrun; the value comes from {call}"
        yield facts.safe(
            "HVD102",
            read.names,
            read.node,
            message,
            edits.replace,
            read.names.source,
            read.node,
            text,
        )


RULE = Rule(
    id="HVD102",
    title="launcher variables become Horovod's functions",
    what="Replaces reads of RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and GROUP_RANK in os.environ.",
    why=(
        "horovodrun and mpirun set none of them. A script that reads them with a default turns, without any "
        "error, into N copies of one process."
    ),
    safety="Safe: the functions give the same numbers that torchrun puts in the environment.",
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist

            dist.init_process_group("gloo")
            local_rank = int(os.environ["LOCAL_RANK"])
            name = "rank" + os.environ.get("RANK", "0")
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist

            dist.init_process_group("gloo")
            local_rank = hvd.local_rank()
            name = "rank" + str(hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            rank = int(os.environ.get("RANK", 0))
            """,
            reason="the program is not distributed by torch, so the variable may mean anything",
        ),
        Keep(
            """\
            import os
            import torch.distributed as dist

            dist.init_process_group("gloo")
            folder = os.environ["DATA"]
            """,
            reason="other variables are the script's own",
        ),
    ),
)
