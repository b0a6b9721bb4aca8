"""`hvdkit run` in an allocation of a real Slurm takes its hosts and slots."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .hosts import Cluster
from .slurm import Slurm
from .test_run import running, wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

RUN = (sys.executable, "-m", "hvdkit", "run")
ALLOCATION = ("salloc", "--nodes=2", "--ntasks-per-node=2")
HOROVOD = """\
import horovod.torch as hvd, socket, torch
hvd.init()
total = hvd.allreduce(torch.ones(1), op=hvd.Sum, name="x").item()
print(socket.gethostname(), hvd.local_rank(), total, flush=True)
"""
EVERYWHERE = [f"[{rank}] {host} {local} 4.0" for rank, host, local in zip(range(4), "aabb", (0, 1, 0, 1))]
TORCH = """\
import os, socket, torch
import torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print(socket.gethostname(), os.environ["LOCAL_RANK"], total.item(), flush=True)
dist.barrier()
os._exit(0)  # Gloo's threads were seen to abort a rank that was ending when others had ended
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with Cluster(tmp_path_factory.mktemp("slurm")) as hosts:
        yield Slurm(hosts)


@pytest.mark.parametrize(
    ("script", "options"), [(HOROVOD, ()), (HOROVOD, ("--gloo",)), (TORCH, ("--torch",))]
)
def test_an_allocation_names_the_hosts(
    slurm: Slurm, tmp_path: Path, script: str, options: tuple[str, ...]
) -> None:
    path = tmp_path / "train.py"
    path.write_text(script)
    daemons = {name: {tuple(line) for line in running(slurm.cluster, name)} for name in slurm.cluster.names}
    done = slurm.cluster.run(
        "a", [*ALLOCATION, *RUN, *options, "python", path], {"SLURM_CONF": str(slurm.conf)}, timeout=1500
    )
    assert sorted(line for line in done.stdout.splitlines() if line.startswith("[")) == EVERYWHERE
    for name, known in daemons.items():
        wait_for(lambda n=name, known=known: known >= {tuple(line) for line in running(slurm.cluster, n)})


def test_srun_before_it_is_refused(slurm: Slurm) -> None:
    done = slurm.srun(["--nodes=2", "--ntasks-per-node=2"], [*RUN, "python", "train.py"], check=False)
    assert done.returncode != 0
    assert done.stderr.count("srun started hvdkit run 4 times") == 4
    assert done.stderr.count("fix: leave srun out: hvdkit run takes the hosts of the allocation") == 4
