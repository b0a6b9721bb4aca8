"""The same hvdkit everywhere: each rank is started through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hvdkit import __version__
from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, error


def gather(request: Request) -> str:
    """The version."""
    return __version__


def compare(facts: Mapping[str, str], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """It must be one version."""
    different = differing(facts)
    if different:
        yield error(
            f"different hvdkit versions: {different}",
            "the launcher on one host communicates with the ranks on the others",
            f"pip install hvdkit=={__version__} on every host",
        )


CHECK = Check("hvdkit", "hvdkit", gather, compare=compare)
