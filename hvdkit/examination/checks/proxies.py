"""Proxies: Python's HTTP client asks them for hosts of the cluster too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning

_VARIABLES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


def gather(request: Request) -> dict[str, Any]:
    """The proxy variables that are set, and the hosts of the job that would be asked for through them.

    Names and hosts of proxies only: their URLs may hold a password.
    """
    set_here = {
        name: urlsplit(os.environ[name]).hostname or "?" for name in _VARIABLES if os.environ.get(name)
    }
    hosts = [*request.peers, *(target.address for target in request.peers.values() if target.address)]
    return {"set": set_here, "through": [host for host in hosts if not proxy_bypass(host)]}


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """None set, or none used for the job's own hosts."""
    if fact["set"] and fact["through"]:
        names = ", ".join(f"{name} ({host})" for name, host in fact["set"].items())
        yield warning(
            f"a proxy is set: {names}",
            "Horovod's HTTP calls to its own hosts go to the proxy and fail "
            "(`Put data input KVStore server failed`); `hvdkit run` does not pass it on",
            f"export NO_PROXY={','.join(fact['through'])} no_proxy={','.join(fact['through'])}",
        )
    else:
        yield ok("no proxy between the hosts")


CHECK = Check("proxies", "proxies", gather, judge=judge)
