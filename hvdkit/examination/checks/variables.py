"""Horovod's variables: one that is misspelt is passed over without a word."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning
from hvdkit.horovod_variables import unknown
from hvdkit.install.ignored import BUILD


def gather(request: Request) -> dict[str, str]:
    """The variables that are set and that Horovod does not have, with what is said of each."""
    return unknown(os.environ, BUILD)


def judge(fact: dict[str, str], request: Request) -> Iterator[Finding]:
    """Every HOROVOD_* is one of Horovod's."""
    for name, said in fact.items():
        yield warning(
            f"{name}: {said}", "what it is meant to set is not set, and nothing says so", f"unset {name}"
        )
    if not fact:
        yield ok("every HOROVOD_ variable that is set is one of Horovod's")


CHECK = Check("variables", "Horovod's variables", gather, judge=judge)
