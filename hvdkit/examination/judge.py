"""From the facts of all hosts to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, Level

Facts = Mapping[str, Mapping[str, Mapping[str, Any]]]


def judge(checks: Iterable[Check], facts: Facts, requests: Mapping[str, Request]) -> list[Finding]:
    """What each check says. facts: by host, then by check id, as `gather` returns them."""
    return [finding for check in checks for finding in _one(check, facts, requests)]


def _one(check: Check, facts: Facts, requests: Mapping[str, Request]) -> Iterator[Finding]:
    values: dict[str, Any] = {}
    for host, gathered in facts.items():
        fact = gathered.get(check.source, {"error": "the host sent no answer"})
        if "error" in fact:
            if check.source == check.id:
                yield _crashed(check, host, fact["error"])
        else:
            values[host] = fact["value"]
    if check.judge is not None:
        for host, value in values.items():
            yield from _guarded(check, host, partial(check.judge, value, requests[host]))
    if check.compare is not None and len(values) > 1:
        yield from _guarded(check, "", partial(check.compare, values, requests))


def _guarded(check: Check, host: str, ask: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return [replace(finding, check=check.id, host=finding.host or host) for finding in ask()]
    except Exception as error:  # a check's own fault is a line of the report, not its end
        return [_crashed(check, host, f"it crashed: {type(error).__name__}: {error}")]


def _crashed(check: Check, host: str, how: str) -> Finding:
    return Finding(
        Level.UNKNOWN,
        f"{check.title}: {how}",
        "the result of this check is unknown",
        f"hvdkit doctor --only {check.id} --json",
        check.id,
        host,
    )
