"""Worker processes import the script again, and start a job inside the job."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.log import Log

# Python's own words, where the script starts processes while it is imported in one; and where it is
# imported so.
_PYTHON = re.compile(
    r"attempt has been made to start a new process before the\s+current process has finished its"
    r" bootstrapping phase"
)
_IMPORTED = re.compile(
    r'^ +File "[^"\n]*(?:multiprocessing/(?:spawn|forkserver)\.py|<string>)"[^\n]*\n(?:[ ][^\n]*\n)*?'
    r' +File "[^"\n]*", line \d+, in (?:_fixup_main_from_path|import_main_path)\n(?:[ ][^\n]*\n)*?'
    r' +File "(?P<place>[^"\n]+", line \d+), in <module>\n(?:[ ][^\n]*\n)*?[^\n]*(?:hvd|horovod)',
    re.MULTILINE,
)
_EXITED = re.compile(r"DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly")
# A rank's workers that call hvd.init(): they ask for a place that is taken, and are refused. The rank
# itself does not
# live on after such words, so where it writes a traceback later, they are its workers'.
_SECOND_INIT = re.compile(
    r"terminate called after throwing an instance of 'gloo::|what\(\): +\[[^\n]*gloo"
    r"|HTTP (?:GET|PUT) request failed|orte_init failed|ompi_mpi_init|MPI_Init_thread|PMIX ERROR"
    r"|in (?:_fixup_main_from_path|import_main_path)$",
    re.MULTILINE,
)


def find(log: Log) -> Match | None:
    if not log.is_job:
        return None
    for rank, stream in log.streams.items():
        of = "" if rank is None else f" of rank {rank}"
        told, imported, refused = map(stream.search, (_PYTHON, _IMPORTED, _SECOND_INIT))
        if told:
            return Match(told.line.number, {"of": of, "place": ""})
        if imported:
            place = imported.groups["place"].replace('", line ', ":")
            return Match(imported.line.number, {"of": of, "place": f" (at {place})"})
        for error in log.tracebacks:
            after = refused and error.rank == rank and error.number > refused.line.number
            if after and _EXITED.search(error.error):
                return Match(error.number, {"of": of, "place": f" (at {error.place})" if error.place else ""})
    return None


CAUSE = Cause(
    id="workers_import_main",
    title="the DataLoader's workers{of} run the script again, with its hvd.init(){place}",
    why=(
        "Workers that are started by spawn or forkserver (Python's default since 3.14, and what"
        " multiprocessing_context= asks for) import the script. What stands outside `if __name__ == "
        "'__main__':`"
        " runs in each of them: they ask for ranks that are taken, and fail or wait."
    ),
    fix=(
        "put what the script does into main(), called under `if __name__ == '__main__':`; or"
        " multiprocessing_context='fork' in the DataLoader, or num_workers=0"
    ),
    find=find,
    excerpt="""\
RuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly
""",
    general={"of": "", "place": ""},
    source="https://github.com/horovod/horovod/pull/1824",
)
