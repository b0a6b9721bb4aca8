"""What both ends of a connection to the launcher read and write: lines of JSON, each within a bound."""

from __future__ import annotations

import socket
import time

LONGEST_HELLO = 4096


def read_line(connection: socket.socket, seconds: float, longest: int) -> bytes:
    """The next line without its end, and nothing of what follows it.

    seconds: for the whole line, however its bytes arrive. Raises: OSError, also where the line is longer.
    """
    until = time.monotonic() + seconds
    read = bytearray()
    while not read.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"no whole line within {seconds:g} s")
        if len(read) == longest:
            raise ConnectionError(f"a line of more than {longest} bytes")
        connection.settimeout(left)
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError("the other side closed the connection")
        read += byte
    return bytes(read[:-1])
