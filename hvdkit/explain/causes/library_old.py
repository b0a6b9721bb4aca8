"""A shared library is older than the one that something was built against."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Match
from hvdkit.explain.log import Log

_VERSION = re.compile(
    r"(?<![^\s:])(?P<library>[^\s:]+): version [`'](?P<version>[\w.]+)' not found"
    r" \(required by (?P<by>[^)\n]+)\)"
)
# By the start of the version's name: what the library is, and how to get a newer one.
_KNOWN = (
    (
        ("GLIBCXX_", "CXXABI_"),
        "libstdc++, the C++ runtime,",
        "a newer libstdc++: conda install -c conda-forge libstdcxx-ng, or apt-get install libstdc++6; "
        "where a newer"
        " one is on the host, load it first: LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6, or "
        "its folder"
        " first in LD_LIBRARY_PATH, for all ranks",
    ),
    (
        ("GLIBC_",),
        "the system's C library, glibc,",
        "build it on the oldest system of the cluster (hvdkit install-horovod --rebuild on that host), "
        "or use the"
        " same image on all hosts; glibc itself is not to be replaced",
    ),
    (
        ("GOMP_", "OMP_"),
        "OpenMP's library",
        "a newer libgomp: apt-get install libgomp1, or conda install libgomp",
    ),
    (("OPENSSL_",), "OpenSSL", "the OpenSSL of that version, first in LD_LIBRARY_PATH for all ranks"),
)


def find(log: Log) -> Match | None:
    hit = log.search(_VERSION) if log.is_job else None
    if hit is None:
        return None
    version, library = hit.groups["version"], hit.groups["library"]
    name = library.rpartition("/")[2]
    other = (name, f"the version of {name} that it was built against, first in LD_LIBRARY_PATH for all ranks")
    what, how = next(((what, how) for starts, what, how in _KNOWN if version.startswith(starts)), other)
    where = "" if hit.line.rank is None else f" on rank {hit.line.rank}"
    facts = {**hit.groups, "what": what, "how": how, "where": where}
    return Match(hit.line.number, {**facts, "by": hit.groups["by"].rpartition("/")[2]})


CAUSE = Cause(
    id="library_old",
    title="{what} is too old{where}: {library} lacks {version}",
    why=(
        "{by} was built against a newer one. The loader takes the first that it finds: often an "
        "environment's own"
        " copy hides the system's, or a binary was built on a newer system than this host's."
    ),
    fix="{how}",
    find=find,
    excerpt="""\
ImportError: /opt/conda/envs/hvd/bin/../lib/libstdc++.so.6: version `GLIBCXX_3.4.29' not found ( ...
""",
    general={
        "library": "libstdc++.so.6",
        "version": "GLIBCXX_3.4.32",
        "what": "a library",
        "by": "FILE",
        "how": "a newer one, or a build on this host",
    },
    source="https://github.com/horovod/horovod/issues/406",
)
