"""Horovod's build failed, and no line that is known says why."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log

_FAILED = re.compile(r"Failed building wheel for horovod|Failed to build [^\n]*\bhorovod")
_ERROR = re.compile(
    r"^[^\n]*?(?P<said>\S+:\d+:\d+: (?:fatal )?error: [^\n]*|CMake Error[^\n]*)"
    r"|(?P<linker>undefined reference to [^\n]*)",
    re.MULTILINE,
)


def find(log: Log) -> Match | None:
    failed = log.search(_FAILED)
    if failed is None:
        return None
    error = log.search(_ERROR)
    if error is None:
        return Match(failed.line.number, {"said": "its own words are not in this log"})
    return Match(error.line.number, {"said": error.groups["said"] or error.groups["linker"]})


CAUSE = Cause(
    id="build_failed",
    title="Horovod's build failed: {said}",
    why=(
        "pip compiles Horovod's extension for the framework on this host. This is the first error of "
        "the compiler"
        " or of CMake in the log; the rest follows from it."
    ),
    fix="hvdkit install-horovod, which builds what is known to fit and first says what is missing",
    find=find,
    excerpt="""\
  ERROR: Failed building wheel for horovod
""",
    level=Level.OWN,
    general={"said": "MESSAGE"},
    source="https://github.com/horovod/horovod/issues/401",
    generic=True,
)
