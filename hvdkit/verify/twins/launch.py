"""`python -m hvdkit.verify.twins.launch TWINS`: processes of one script, each in its own work folder.

TWINS: as JSON, for each its folder and command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence

from hvdkit import interpreter
from hvdkit.verify.hook.settings import TWIN, TWIN_KEY
from hvdkit.verify.workfolder import WorkFolder

Twin = tuple[str, list[str]]  # folder, command


def command_line(works: Sequence[WorkFolder], script: Sequence[str]) -> list[str]:
    """The command that starts a script as twins. script: the command that starts it in the first folder."""
    first = str(works[0].path)
    twins = []
    for work in works:
        placed = [f"{work.path}{part[len(first) :]}" if part.startswith(first) else part for part in script]
        twins.append((str(work.path), [*work.within, *placed]))
    return interpreter.module("hvdkit.verify.twins.launch", json.dumps(twins))


def start(twins: Sequence[Twin]) -> list[subprocess.Popen[bytes]]:
    """Start all; a key lets them know each other."""
    key = uuid.uuid4().hex
    started = []
    for rank, (folder, command) in enumerate(twins):
        environment = {**os.environ, TWIN: str(rank), TWIN_KEY: key}
        started.append(subprocess.Popen(command, cwd=folder, env=environment))
    return started


def wait(twins: list[subprocess.Popen[bytes]]) -> int:
    """0 once all have ended well; else the code of the first that did not, with the others ended."""
    while True:
        codes = [twin.poll() for twin in twins]
        failed = [code for code in codes if code]
        if failed:
            for twin in twins:
                twin.kill()
            return failed[0]
        if None not in codes:
            return 0
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(wait(start(json.loads(sys.argv[1]))) and 1)
