"""Worker processes import the script again, and start a job inside the job."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.log import Log, Stream

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
# The loop of a script that has no main guard: PyTorch's loader is called at the level of the module.
_LOADER = re.compile(
    r'^ +File "(?P<file>(?![^"\n]*(?:site|dist)-packages)[^"\n]+)", line (?P<number>\d+), in <module>\n'
    r"(?: {4}[^\n]*\n){0,3}? +File \"[^\"\n]*torch/utils/data/dataloader\.py\"(?:[^\n]*\n)+?"
    r"RuntimeError: DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly",
    re.MULTILINE,
)
# A rank's workers that call hvd.init(): they ask for a place that is taken, and are refused.
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
        match = _match(stream, "" if rank is None else f" of rank {rank}")
        if match:
            return match
    return None


def _match(stream: Stream, of: str) -> Match | None:
    told = stream.search(_PYTHON)
    if told:
        return Match(told.line.number, {"of": of, "place": ""})
    imported = stream.search(_IMPORTED)
    if imported:
        place = imported.groups["place"].replace('", line ', ":")
        return Match(imported.line.number, {"of": of, "place": f" at {place}"})
    loader = stream.search(_LOADER)
    if loader and stream.search(_SECOND_INIT):
        return Match(loader.line.number, {"of": of, "place": " from {file}".format(**loader.groups)})
    return None


CAUSE = Cause(
    id="workers_import_main",
    title="the DataLoader's workers{of} run the script{place} again, with its hvd.init()",
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
