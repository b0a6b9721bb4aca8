"""How the twins of one original send each other values: all to the first, and from there to all."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, NoReturn

from hvdkit.verify.hook.settings import TWIN, TWIN_KEY
from hvdkit.verify.hook.twin_record import MEET, PARTED


class Peers:
    """The other twins of this process. record: the folder of the run. pack, unpack: what is sent, to and from
    bytes."""

    def __init__(
        self,
        record: Path,
        world: int,
        pack: Callable[[Any], bytes] = pickle.dumps,
        unpack: Callable[[bytes], Any] = pickle.loads,
    ) -> None:
        self.record, self.pack, self.unpack = record, pack, unpack
        self.rank = int(os.environ[TWIN])
        self.is_complete: Callable[[], bool] = lambda: (
            False
        )  # whether this process has done all that its rank of the job did
        key = os.environ[TWIN_KEY].encode()
        self.connections = self._accepted(key, world) if not self.rank else [self._connected(key)]

    def _accepted(self, key: bytes, world: int) -> list[Connection]:
        """Of the first twin: to the others, by rank."""
        with Listener(("127.0.0.1", 0), authkey=key, backlog=world) as listener:
            port = self.record / f"{MEET}.tmp"
            port.write_text(str(listener.address[1]), encoding="utf-8")
            port.replace(self.record / MEET)
            accepted = [listener.accept() for _ in range(world - 1)]
        by_rank = {int(connection.recv_bytes()): connection for connection in accepted}
        return [by_rank[rank] for rank in sorted(by_rank)]

    def _connected(self, key: bytes) -> Connection:
        """Of another twin: to the first."""
        while not (self.record / MEET).exists():
            time.sleep(0.01)  # the command ends the run if the first one never comes
        port = int((self.record / MEET).read_text(encoding="utf-8"))
        connection = Client(("127.0.0.1", port), authkey=key)
        connection.send_bytes(str(self.rank).encode())
        return connection

    def gather(self, what: str, value: Any) -> list[Any]:
        """The values of all, by rank. what: the same moment in all; where it is not, this process ends."""
        try:
            if self.rank:
                self.connections[0].send_bytes(self.pack((what, value)))
                answer = self.unpack(self.connections[0].recv_bytes())
            else:
                received = (self.unpack(connection.recv_bytes()) for connection in self.connections)
                answer = [(what, value), *received]
                packed = self.pack(answer)
                for connection in self.connections:
                    connection.send_bytes(packed)
        except (EOFError, OSError):
            if self.rank and self.is_complete():
                os._exit(0)  # the first has ended, as one process would
            self.part(f"twin {self.rank} reaches {what}, and another twin has ended")
        moments = [moment for moment, _ in answer]
        if len(set(moments)) > 1:
            self.part(f"twins come to {', '.join(f'{m} ({r})' for r, m in enumerate(moments))}")
        return [given for _, given in answer]

    def part(self, why: str) -> NoReturn:
        """End this process: what it would do from here on is compared with nothing.

        Not by an exception, which the script could catch.
        """
        (self.record / PARTED).write_text(why, encoding="utf-8")
        os._exit(0)
