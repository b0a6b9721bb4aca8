"""TensorFlow: it imports, and is the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.checks.horovod import framework_differs, framework_works
from hvdkit.examination.finding import Finding


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """Imports, or how not."""
    return framework_works("tensorflow", fact)


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """One version."""
    return framework_differs("tensorflow", facts)


CHECK = Check("tensorflow", "TensorFlow", fact="horovod", judge=judge, compare=compare)
