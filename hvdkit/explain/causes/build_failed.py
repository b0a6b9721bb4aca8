"""Horovod's build failed, and no other cause knows why: the log's own words say it."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log

_FAILED = re.compile(
    r"(?P<pip>Failed building wheel for horovod|Failed to build [^\n]*\bhorovod)"
    r"|(?:Building wheel|Running setup\.py \w+) for horovod[^\n]*error"
    r"|/horovod(?:_\w+)?/setup\.py\", line \d+|horovod/\w+/CMakeFiles/[^\n]*\] Error \d+",
    re.IGNORECASE,
)
# The programs that a build runs, as they sign their errors.
_COMPILERS = r"(?:[\w.-]*(?:g\+\+|c\+\+|gcc|clang|clang\+\+|hipcc|mpicxx|icpc|icpx)(?:-\d+)?|cc1plus|cc1|cc)"
_LINKERS = r"(?:ld(?:\.\w+|64\.lld)?|lld|gold|mold)"
# Who says what, the most exact first: of those that speak, the first error of the first kind counts.
_ERRORS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # the compilers, by place or by name; the linkers; nvcc; CMake, whose reason is below; ninja
        r"^[^\n]*?(?P<said>(?:\S+:\d+:\d+|\S+\(\d+\)|\S+\.\w+:\d+): (?:fatal )?error[ :][^\n]*"
        rf"|(?:(?<=[/\s])|^){_COMPILERS}: (?:fatal |internal compiler )?error: (?!linker command)[^\n]*"
        r"|(?:duplicate symbol|multiple definition of|undefined reference to) [^\n]*"
        r"|Undefined symbols for architecture [^\n]*\n[^\n]*"
        rf"|(?:(?<=[/\s])|^){_LINKERS}: (?!warning:)(?=[^\n]*(?:cannot|not found|error|fatal|undefined"
        r"|relocation|incompatible|unrecognized|unknown|missing|duplicate))[^\n]*"
        r"|\bLINK : fatal error [^\n]*"
        r"|nvcc (?:fatal|error) +: [^\n]*|ptxas (?:fatal|error) +: [^\n]*|\w*nvlink (?:fatal|error) +: [^\n]*"
        r"|CMake Error(?! at [^\n]*generated)[^\n]*(?:\n\s*[^\n]+)?|ninja: (?:error|fatal): [^\n]*"
        r"|make(?:\[\d+\])?: \*\*\* No rule[^\n]*)",
        # setup.py, in Python's words and in those of distutils
        r"^ *File \"[^\"\n]+\", line \d+[^\n]*\n(?:[^\n]*\n){0,3}? *"
        r"(?P<said>(?:[\w.]+\.)?\w+(?:Error|Exception)"
        r"(?<!CalledProcessError)(?<!CompileError)(?<!LinkError): [^\n]+)",
        r"^ *(?P<said>error: (?!subprocess-exited|legacy-install|metadata-generation|command )[^\n]+)",
        # what only says that one of the others has failed
        r"^[^\n]*?(?P<said>(?:clang|collect2): (?:fatal )?error: [^\n]*|error: command [^\n]* failed[^\n]*)",
    )
)


def find(log: Log) -> Match | None:
    failed = log.search(_FAILED)
    if failed is None:
        return None
    error = next((hit for pattern in _ERRORS for hit in [log.search(pattern)] if hit), None)
    if error is None:
        if not failed.groups["pip"]:
            return None  # what was quoted does not say it
        return Match(failed.line.number, {"said": "none of the lines in this log gives an error"})
    said = error.groups["said"]
    return Match(error.line.number, {"said": " ".join(said.split())})


CAUSE = Cause(
    id="build_failed",
    title="Horovod's build failed: {said}",
    why=(
        "pip compiles Horovod's extension for the framework on this host. This is the first error in the log "
        "that says more than that another one happened."
    ),
    fix=(
        "on Linux: hvdkit install-horovod, which builds what is known to fit and first says what is missing; "
        "elsewhere fix that error, and keep the whole output: pip install -v --no-cache-dir horovod 2>&1 | "
        "tee build.log"
    ),
    find=find,
    excerpt="""\
  ERROR: Failed building wheel for horovod
""",
    level=Level.OWN,
    general={"said": "MESSAGE"},
    source="https://github.com/horovod/horovod/issues/401",
    generic=True,
)
