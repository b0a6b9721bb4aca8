"""Requests that go over a host's wire to a port: `python listener.py PORT FILE SECONDS` keeps them."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

ALL = 3  # ETH_P_ALL of linux/if_ether.h


def requests(port: int, seconds: float) -> list[str]:
    """The POST requests of some seconds, one a frame."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as wire:
        wire.settimeout(1)
        end = time.monotonic() + seconds
        parts: dict[bytes, bytes] = {}
        while time.monotonic() < end:
            try:
                frame = wire.recv(65535)
            except TimeoutError:
                continue
            header = 14 + (frame[14] & 15) * 4
            if (
                frame[23] != socket.IPPROTO_TCP
                or int.from_bytes(frame[header + 2 : header + 4], "big") != port
            ):
                continue
            data = frame[header + (frame[header + 12] >> 4) * 4 :]
            source = frame[header : header + 2]
            if data.startswith(b"POST "):
                parts[source] = b""
            if source in parts:
                parts[source] += data
    return [text.decode("latin-1") for text in parts.values()]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(requests(int(sys.argv[1]), float(sys.argv[3]))), encoding="utf-8")
