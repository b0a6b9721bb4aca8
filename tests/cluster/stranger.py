"""What a stranger does to a control port: `python stranger.py ATTACK ADDRESS PORT JOB [FILE]`, on its host.

It knows the node list, so it knows the job's name; it does not know its secret. It says on standard output
how it was answered.
"""

from __future__ import annotations

import json
import socket
import sys
import time

from hvdkit.bootstrap.messages import Line, Message
from hvdkit.bootstrap.secret import Secret

NODE = {"node": 1, "who": "process 1 on c", "done": False, "failure": None}
STOP = {**NODE, "failure": {"text": "the job was ended by a stranger", "by_signal": True}}


class Stranger:
    """A control port as somebody meets it who is no member of the job."""

    def __init__(self, address: str, port: int, job: str) -> None:
        self.place = address, port
        self.job = job

    def say(self, message: Message) -> str:
        """A message with every key that can be known, and the answer to it."""
        try:
            return json.dumps(Line(*self.place, self.job, Secret()).ask(message))
        except OSError as error:
            return f"{type(error).__name__}: {error}"

    def send(self, data: bytes) -> str:
        """Some bytes, and the first line of the answer."""
        with socket.create_connection(self.place, timeout=30) as connection:
            try:
                connection.sendall(data)
                return connection.recv(1000).decode("latin-1").partition("\r\n")[0]
            except OSError as error:
                return type(error).__name__

    def post(self, body: bytes) -> str:
        head = f"POST /hvdkit HTTP/1.1\r\nHvdkit-Job: {self.job}\r\nContent-Length: {len(body)}\r\n\r\n"
        return self.send(head.encode() + body)

    def join(self) -> list[str]:
        """Take the place of node 1 before it comes."""
        return [self.say(NODE)]

    def end(self) -> list[str]:
        """Have the job ended, in the name of nodes that are there and of nodes that are not."""
        return [self.say({**STOP, "node": node}) for node in (1, 0, -1, 999, "1")]

    def nonsense(self) -> list[str]:
        """What is no message, and what belongs to Horovod."""
        bodies = [b"", b"[]", b"no json", b"[" * 500_000, b"{" * 500_000, b"\xff" * 1000, b'{"node": {}}']
        said = [self.post(body) for body in bodies]
        for request in (b"PUT /global/0", b"GET /global/0", b"DELETE /global/0", b"HEAD /train.py", b"GET /"):
            said.append(self.send(request + b" HTTP/1.1\r\nContent-Length: 0\r\n\r\n"))
        said.append(self.send(b"\x16\x03\x01" + bytes(500) + b"\r\n\r\n"))
        return said

    def flood(self) -> list[str]:
        """Far more connections than there are ranks, half of them silent, half of them slow."""
        held = []
        for number in range(600):
            try:
                connection = socket.create_connection(self.place, timeout=5)
            except OSError:
                continue
            if number % 2:
                connection.sendall(b"POST /hvdkit HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
            held.append(connection)
        for _ in range(15):
            for connection in held[1::2]:
                try:
                    connection.send(b"x")
                except OSError:
                    continue
            time.sleep(1)
        return [f"{len(held)} connections"]

    def replay(self, file: str) -> list[str]:
        """What node 1 said, as it went over the wire."""
        with open(file, encoding="latin-1") as recorded:  # noqa: PTH123
            return [self.send(request.encode("latin-1")) for request in json.load(recorded)]


if __name__ == "__main__":
    attack, address, port, job, *more = sys.argv[1:]
    print(json.dumps(getattr(Stranger(address, int(port), job), attack)(*more)))
