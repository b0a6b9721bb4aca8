"""The same Python everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, error, ok

OLDEST = (3, 9)


def gather(request: Request) -> dict[str, str]:
    """Version and path of the interpreter."""
    return {"version": ".".join(map(str, sys.version_info[:3])), "path": sys.executable}


def judge(fact: dict[str, str], request: Request) -> Iterator[Finding]:
    """Old ones are named; else the version."""
    if tuple(map(int, fact["version"].split(".")[:2])) < OLDEST:
        yield error(f"Python {fact['version']}", "hvdkit needs 3.9 or later", "install Python 3.9 or later")
    else:
        yield ok(f"Python {fact['version']}, {fact['path']}")


def compare(facts: Mapping[str, dict[str, str]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """Minor versions have to agree: compiled packages and pickled objects belong to one of them."""
    different = differing({host: ".".join(fact["version"].split(".")[:2]) for host, fact in facts.items()})
    if different:
        versions = ", ".join(f"{host} has {fact['version']}" for host, fact in facts.items())
        yield error(
            f"different Python versions at the same path: {versions}",
            "horovodrun starts that path on every host, and its services exchange pickles",
            "create the environment with the same Python on every host",
        )


CHECK = Check("python", "Python", gather, judge=judge, compare=compare)
