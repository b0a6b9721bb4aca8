"""Commands that may take long on a busy machine as long as they go on: a bound on silence alone."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO


def run_while_it_speaks(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path | None = None,
    silence: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run to the end. Fails, with all that was printed, where nothing is printed for `silence` seconds."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    spoke = time.monotonic()
    out: list[str] = []
    err: list[str] = []

    def read(stream: IO[str], lines: list[str]) -> None:
        nonlocal spoke
        for line in stream:
            lines.append(line)
            spoke = time.monotonic()

    readers = [
        threading.Thread(target=read, args=(process.stdout, out), daemon=True),
        threading.Thread(target=read, args=(process.stderr, err), daemon=True),
    ]
    for reader in readers:
        reader.start()
    while process.poll() is None:
        if time.monotonic() - spoke > silence:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"silent for {silence:g} s: {command}\n{''.join(out)}\n{''.join(err)}")
        time.sleep(0.05)
    for reader in readers:
        reader.join(10)
    return subprocess.CompletedProcess(command, process.returncode, "".join(out), "".join(err))
