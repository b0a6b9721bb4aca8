"""HVD001: hvd.init() becomes a process group."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.horovod_wraps import called
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_helpers import in_file
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, "init", modules=words.HOROVOD):
        if site.node.args or site.node.keywords:
            message = "hvd.init() is given ranks or process sets"
            yield refused("HVD001", site.names, site.node, message, "call it without arguments")
        else:
            message = "hvd.init() becomes a process group, started by torchrun"
            yield safe(facts, "HVD001", site.names, site.node, message, _started, site)


def _started(site: Site) -> list[Edit]:
    helper, name = in_file(site.names, "start_ranks")
    return [helper, edits.replace(site.names.source, site.node, f"{name}()")]


RULE = Rule(
    id="HVD001",
    title="hvd.init() becomes a process group",
    what="Replaces hvd.init() by a function, written into the file, that joins the process group of torchrun.",
    why="torch.distributed sends nothing before that. A script without a launcher stays one process, as with "
    "Horovod, and one that mpirun, srun or horovodrun starts on several ranks stops with an error.",
    safety="Safe: required, and with one right answer. torch.distributed stops a rank that waits for more than "
    "30 minutes (NCCL: 10), where Horovod warns and waits.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            print(torch.__version__)
            """,
            '''\
            import torch
            import os
            import torch.distributed as dist


            def start_ranks():
                """Join the process group of torchrun; without a launcher, one of this process alone."""
                if dist.is_initialized():
                    return
                backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
                if "RANK" in os.environ:
                    dist.init_process_group(backend)
                    return
                for name in ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
                    if int(os.environ.get(name, 1)) > 1:
                        raise RuntimeError(f"{name} is set, and RANK is not: start this script by torchrun")
                dist.init_process_group(backend, rank=0, world_size=1, store=dist.HashStore())

            start_ranks()
            print(torch.__version__)
            ''',
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init([0, 1])
            """,
            reason="a part of the ranks would be its own job",
            reported=True,
        ),
    ),
)
