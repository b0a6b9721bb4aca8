"""Two libraries that were not built for each other."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.libraries import belongs
from hvdkit.explain.log import Log

# Horovod's own extension is another cause's.
_LIBRARY = r"(?P<library>(?![^\s:]*(?:horovod|mpi_lib))[^\s:]+\.so[\d.]*)"
_SAYS = says(
    r"^(?:(?:[\w.]*\.)?(?:ImportError|OSError|NotFoundError)|\S*python[\d.]*: symbol lookup error): "
    rf"{_LIBRARY}: undefined symbol: (?P<symbol>[\w.@]+)",
    in_job=True,
)


def find(log: Log) -> Match | None:
    match = _SAYS(log)
    if match is None:
        return None
    library = match.facts["library"].rpartition("/")[2]
    what = belongs(library)[0]
    return Match(match.line, {**match.facts, "library": library, "detail": f" of {what}" if what else ""})


CAUSE = Cause(
    id="library_mixed",
    title="the library {library}{detail} does not fit the others that are loaded{where}: no {symbol}",
    why=(
        "It was built for another version of a library that it calls. Mostly LD_LIBRARY_PATH puts a "
        "CUDA, NCCL or"
        " MPI of the host before the one that the package brings, or packages of two versions were mixed."
    ),
    fix=(
        "unset LD_LIBRARY_PATH, or take the folder of the other version out of it; else install the "
        "packages anew"
        " together: torch with torchvision and its nvidia-* packages"
    ),
    find=find,
    excerpt="""\
ImportError: /opt/venv/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: undefined symbol ...
""",
    general={"library": "LIBRARY", "symbol": "SYMBOL"},
    source="https://github.com/horovod/horovod/issues/274",
)
