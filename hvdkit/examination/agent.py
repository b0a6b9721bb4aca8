"""The doctor on one host: `python -m hvdkit.examination.agent CTRL_PORT`, started by session.py.

JSON lines: it says what it is and where it listens, then answers requests on standard input until that ends.
It needs Python's own library and hvdkit, nothing else: what is missing on a host is what it is to find.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from hvdkit.examination.check import Request
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.gather import gather
from hvdkit.examination.meeting import greet

# Nobody is examined for longer; a host that was cut off keeps no doctor.
_LIFETIME_S = 300


def main(ctrl_port: int) -> None:
    """Serve one session."""
    signal.alarm(_LIFETIME_S)
    _say(greet(ctrl_port).as_json())
    for line in sys.stdin:
        message = json.loads(line)
        if "request" in message:
            os.environ.update(message["environment"])
            asked = [CHECKS[name] for name in message["checks"]]
            _say({"facts": gather(asked, Request.from_json(message["request"]))})
        else:
            _say({"clock": time.time()})
    sys.stdout.flush()
    os._exit(0)  # a check that hangs holds nobody up


def _say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
