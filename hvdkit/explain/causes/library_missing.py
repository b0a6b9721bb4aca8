"""The loader does not find a shared library."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.libraries import belongs
from hvdkit.explain.log import Log

_LIBRARY = r"(?P<library>[\w./+-]*lib[\w.+-]+\.(?:so[\d.]*|dylib))"
# What ends a program; TensorFlow and Open MPI say the like of libraries that they do without.
_SAYS = says(
    rf"^(?:[\w.]*\.)?(?:ImportError|OSError|NotFoundError): {_LIBRARY}: cannot open shared object file",
    rf"error while loading shared libraries: {_LIBRARY}: cannot open shared object file",
    r"^(?:[\w.]*\.)?(?:ImportError|OSError): dlopen\([^)]*\): Library not loaded: (?:@rpath/)?"
    r"(?P<library>\S+\.dylib)",
    in_job=True,
)


def find(log: Log) -> Match | None:
    match = _SAYS(log)
    if match is None:
        return None
    library = match.facts["library"].rpartition("/")[2]
    what, how = belongs(library)
    of = f", part of {what}," if what else ""
    return Match(match.line, {**match.facts, "library": library, "detail": of, "how": how})


CAUSE = Cause(
    id="library_missing",
    title="the shared library {library}{detail} is not found{where}",
    why=(
        "It is not installed on that host, or lies in a folder that the loader does not search; or what "
        "asks for"
        " it was built against another version than the one that is there. Ranks that ssh, srun or a "
        "container"
        " starts do not read the settings of your own shell."
    ),
    fix=(
        "{how}; where it is installed, its folder into LD_LIBRARY_PATH for all ranks (mpirun -x "
        "LD_LIBRARY_PATH);"
        " `ldd FILE | grep 'not found'` on that host must print nothing"
    ),
    find=find,
    excerpt="""\
ImportError: libmpi.so.40: cannot open shared object file: No such file or directory
""",
    general={"library": "LIBRARY", "how": "install what it is part of, on every host"},
    source="https://github.com/horovod/horovod/issues/1370",
)
