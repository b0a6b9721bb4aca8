"""torch.distributed looks for its own launcher."""

from __future__ import annotations

from hvdkit.bootstrap.unset import ENVIRONMENT
from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import INSTALLED, Log


def find(log: Log) -> Match | None:
    if not log.is_job:
        return None
    for error in log.tracebacks:
        found = ENVIRONMENT.search(error.error)
        if found:
            name = found["what"] or found["variable"]
            asks = f"asks for {name}, which torchrun sets and this launcher does not"
            script = next((file for file in error.files if not INSTALLED.search(file)), "train.py")
            where = "" if error.rank is None else f" on rank {error.rank}"
            return Match(
                error.number,
                {"asks": asks if name else "has no process group", "script": script, "where": where},
            )
    return None


CAUSE = Cause(
    id="not_migrated",
    title="the script is not migrated: torch.distributed{where} {asks}",
    why=(
        "RANK, WORLD_SIZE, LOCAL_RANK and MASTER_ADDR come from torchrun. horovodrun, mpirun and hvdkit run "
        "start ranks of Horovod, which ask hvd.init() for their place."
    ),
    fix="hvdkit migrate {script} --write; or start it as it is: torchrun --nproc-per-node 2 {script}",
    find=find,
    excerpt="""\
ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK  ...
""",
    level=Level.OWN,
    general={"asks": "asks for RANK, which torchrun sets and this launcher does not", "script": "train.py"},
)
