"""Lines that look bad and are not: told as such, so that nobody follows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvdkit.explain.log import Log

# What is harmless, and why.
_KNOWN: tuple[tuple[str, str], ...] = (
    (r"pkg_resources is deprecated", "Horovod's launcher uses an old part of setuptools, which still works"),
    (r"Read -1, expected \d+, errno = 1", "Open MPI may not copy one way in a container and takes another"),
    (r"process has executed an operation involving a call", "Open MPI warns of DataLoader workers"),
    (r"initializing an OpenFabrics device|No OpenFabrics connection", "Open MPI continues over TCP"),
    (r"WARN Failed to open libibverbs", "NCCL continues over TCP, where there is no InfiniBand"),
    (
        r"Could not load dynamic library|unable to open mca_\w+: .*\(ignored\)",
        "it is done without that library",
    ),
    (r"Warning: Permanently added .* known hosts", "ssh met a host for the first time"),
    (r"`lr_scheduler\.step\(\)` before `optimizer\.step\(\)`", "PyTorch does not see Horovod's step()"),
    (
        r"TF-TRT Warning|Could not find cuda drivers|oneDNN custom operations",
        "TensorFlow reports how it was built",
    ),
    (r"FutureWarning|DeprecationWarning", "a library warns its developers"),
    (r"_ARRAY_API not found|Failed to initialize NumPy", "PyTorch continues without NumPy"),
    (r"cannot set LC_CTYPE|setlocale:", "the shell on the other host has another language set"),
)
_PATTERNS = tuple((re.compile(pattern), reason) for pattern, reason in _KNOWN)


@dataclass(frozen=True)
class Harmless:
    """A line that needs no care. number: of the first of its kind; count: of all."""

    number: int
    count: int
    text: str
    reason: str


def harmless(log: Log) -> tuple[Harmless, ...]:
    """The known harmless lines of a log, one for each kind."""
    found = []
    for pattern, reason in _PATTERNS:
        hits = log.all(pattern)
        if hits:
            first = hits[0].line
            found.append(Harmless(first.number, len(hits), first.text.strip(), reason))
    return tuple(sorted(found, key=lambda one: one.number))
