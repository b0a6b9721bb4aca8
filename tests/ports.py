"""Ports for tests, which run two at a time."""

from __future__ import annotations

import random
import socket

# Below the ports that the kernel lends to anybody, and not those that hvdkit works out in bootstrap/ports.py:
# what is free stays free until the test uses it.
_FIRST, _LAST = 10_000, 19_998


def free_port() -> int:
    """A port of 127.0.0.1 that is free, as is the next one."""
    while True:
        port = random.randint(_FIRST, _LAST)
        try:
            for each in (port, port + 1):
                socket.create_server(("127.0.0.1", each)).close()
        except OSError:
            continue
        return port
