"""Horovod's extension does not load."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Match, says
from hvdkit.explain.log import Log

_LOADS = says(
    r"HorovodVersionMismatchError",
    r"(?:mpi_lib\w*|horovod/\S+)\.so: (?:undefined symbol(?!: _ZNK?7horovod)|invalid ELF|file too short"
    r"|cannot open shared)",
    r"dlopen\([^\n]*horovod[^\n]*Symbol not found: (?!__ZNK?7horovod)",
    r"ImportError: .*horovod\S*\.so: (?!undefined symbol: _ZNK?7horovod)",
)
_VERSIONS = re.compile(
    r"Framework (?P<name>\w+) installed with version (?P<built>\S+) but found version (?P<found>\S+)\.$",
    re.MULTILINE,
)


def find(log: Log) -> Match | None:
    match = _LOADS(log)
    if match is None:
        return None
    versions = log.search(_VERSIONS)
    told = ""
    if versions:
        told = ": it was built for {name} {built}, and {found} is installed".format(**versions.groups)
    return Match(match.line, {**match.facts, "versions": told})


CAUSE = Cause(
    id="extension_broken",
    title="Horovod's extension does not load with the framework that is installed{where}{versions}",
    why=(
        "It is compiled against one exact version of PyTorch or TensorFlow, which has changed "
        "since, or is another one on this host; or the file is damaged."
    ),
    fix="hvdkit install-horovod --rebuild, on every host with the same versions",
    find=find,
    excerpt="""\
ImportError: /proj/horovod/torch/mpi_lib_v2.cpython-311-x86_64-linux-gnu.so: file too short
""",
)
