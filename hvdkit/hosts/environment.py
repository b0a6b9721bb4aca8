"""Which variables a job is given.

horovodrun writes the environment it is started with onto the command line of every rank, where `ps` shows it
to everybody on every host. So it is started with what a job needs, and with what the user named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvdkit.errors import UsageError
from hvdkit.reports import no_place
from hvdkit.shell import word

# What a program needs to be found and to behave as in the shell it was started from.
NEEDED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR"),
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHASHSEED", "SSH_AUTH_SOCK"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"),
        *("HF_HOME", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_CACHE", "TRANSFORMERS_OFFLINE"),
        "TOKENIZERS_PARALLELISM",
        *("NVIDIA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "TF_CPP_MIN_LOG_LEVEL", "TF_USE_LEGACY_KERAS"),
    )
)
# Settings of the libraries that a rank computes and talks with.
FAMILIES = (
    *("LC_", "HOROVOD_", "HVDKIT_", "NCCL_", "UCX_", "OMPI_", "OMP_", "MKL_", "KMP_", "OPENBLAS_"),
    *("TORCH_", "GLOO_", "ACCELERATE_", "FSDP_"),
)
# Of an earlier job: horovodrun sets its own for each rank.
_RANK = re.compile(
    r"HOROVOD_((LOCAL_|CROSS_)?(RANK|SIZE)|HOSTNAME|CONTROLLER|CPU_OPERATIONS|GLOO_RENDEZVOUS_(ADDR|PORT)|GLOO_IFACE)"
    r"|OMPI_(COMM_WORLD|UNIVERSE)_.*|OMPI_APP_CTX_.*|OMPI_MCA_(orte|ess|pmix)_.*|OMPI_(FILE_LOCATION|ARGV|COMMAND|FIRST_RANKS|NUM_APP_CTX)"
)
# The secret of jobs on control ports, which a job of horovodrun has no use for: no command line may show it.
_SECRET = "HVDKIT_SECRET"
_LATER = "DYNAMIC"  # the script names the file itself, by hvd.start_timeline
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def passed(environ: Mapping[str, str], named: Sequence[str] = ()) -> dict[str, str]:
    """The part of `environ` that a job gets.

    named: `NAME` to pass one more variable, `NAME=VALUE` to set it, as mpirun's -x.
    Raises: UsageError if a name is not one, or names a variable that is not set.
    """
    kept = {name: value for name, value in environ.items() if _is_needed(name)}
    for entry in named:
        name, equals, value = entry.partition("=")
        if _NAME.fullmatch(name) is None:
            raise UsageError(f"-x {entry}: not the name of a variable", fix="-x NAME or -x NAME=VALUE")
        if not equals and name not in environ:
            raise UsageError(f"-x {name}: it is not set here", fix=f"-x {name}=VALUE")
        kept[name] = value if equals else environ[name]
    return kept


def for_launcher(environ: Mapping[str, str], named: Sequence[str] = ()) -> dict[str, str]:
    """`passed`, and what Open MPI wants to be told twice before it lets root start a job."""
    kept = passed(environ, named)
    if os.geteuid() == 0:
        kept.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return kept


def _is_needed(name: str) -> bool:
    known = name in NEEDED or name.startswith(FAMILIES)
    return known and name != _SECRET and _RANK.fullmatch(name) is None


def check_timeline(environ: Mapping[str, str]) -> None:
    """Raises: UsageError if a rank 0 on this machine cannot write the file that HOROVOD_TIMELINE names.

    Horovod would train on, and record nothing.
    """
    value = environ.get("HOROVOD_TIMELINE", "")
    place = Path(value)
    instead = (place if place.is_dir() else Path()) / "timeline.json"
    if value and value != _LATER and (why := no_place(place, Path(os.path.realpath(place)).parent)):
        raise UsageError(
            f"HOROVOD_TIMELINE={value}: {why}",
            why="rank 0 could not record its timeline",
            fix=f"HOROVOD_TIMELINE={word(str(instead))}",
        )


def recording(timeline: Path) -> dict[str, str]:
    """What makes rank 0 record when each rank was ready, too: cached responses leave that out."""
    return {"HOROVOD_TIMELINE": str(timeline.absolute()), "HOROVOD_CACHE_CAPACITY": "0"}
