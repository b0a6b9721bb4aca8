"""Gathers the facts of this machine: all checks at once, each with its own time limit."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from typing import Any

from hvdkit.examination.check import Check, Request


def gather(checks: Iterable[Check], request: Request) -> dict[str, dict[str, Any]]:
    """Fact by check id: {"value": ...}, or {"error": ...} where a check crashed or took too long.

    A check that hangs is left behind in a daemon thread: it delays neither the others nor the end.
    """
    facts: dict[str, dict[str, Any]] = {}
    threads = []
    for check in checks:
        thread = threading.Thread(target=_gather_one, args=(check, request, facts), daemon=True)
        thread.start()
        threads.append((check, thread, time.monotonic() + check.timeout_s))
    for check, thread, deadline in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
        facts.setdefault(check.id, {"error": f"no answer within {check.timeout_s:g} s"})
    return dict(facts)


def _gather_one(check: Check, request: Request, facts: dict[str, dict[str, Any]]) -> None:
    assert check.gather is not None
    try:
        fact = {"value": check.gather(request)}
    except Exception:  # whatever it is, the report goes on and names it
        fact = {"error": f"it crashed: {traceback.format_exc().strip().splitlines()[-1]}"}
    facts.setdefault(check.id, fact)


def gathering(checks: Iterable[Check], every: Mapping[str, Check]) -> list[Check]:
    """The checks whose facts `checks` need, each once."""
    return list({check.source: every[check.source] for check in checks}.values())
