"""Command lines that start Horovod scripts, and the torchrun line for each host that takes their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hvdkit.migrate.engine.launchers import PYTHON, TOKEN, LaunchLine, lines_with, starts

LAUNCHER = re.compile(r"(?:\S*/)?(?:horovodrun|mpirun|mpiexec|hvdkit\s+run)(?=\s)")
COUNTS = ("np", "n", "num-proc")
HOSTS = ("H", "hosts", "host")
# Options with a value, and mpirun's with two; all others are taken for switches.
VALUES = ("hostfile", "p", "ssh-port", "network-interface", "start-timeout", "bind-to", "map-by", "mca", "x")


def back_lines(paths: Sequence[Path], scripts: Iterable[Path]) -> list[LaunchLine]:
    """Lines in files beside or below the paths that start one of the scripts with Horovod."""
    return lines_with(paths, scripts, _changed)


def _changed(line: str, known: set[str]) -> Iterator[tuple[str, str]]:
    match = LAUNCHER.search(line)
    instead = torchrun(line[match.end() :], known) if match else None
    if match and instead:
        yield re.split(r"[`|;&>]", line[match.start() :])[0].strip(), instead


def torchrun(arguments: str, known: set[str]) -> str | None:
    """The line for a launcher's arguments; None where they start no known script, or are not understood."""
    tokens = TOKEN.findall(re.split(r"[`|;&>]", arguments)[0])
    given: dict[str, str] = {}
    while tokens and tokens[0].startswith("-"):
        name, equals, value = tokens.pop(0).lstrip("-").partition("=")
        if name in (*COUNTS, *HOSTS, *VALUES) and not equals:
            value = tokens.pop(0) if tokens else ""
        if name == "mca" and tokens:
            tokens.pop(0)
        given[name] = value
    if not tokens or PYTHON.fullmatch(tokens[0]) is None:
        return None
    module = tokens[1:2] == ["-m"]
    program = tokens[1:] if module else [token for token in tokens[1:] if token != "-u"]
    if not program or not starts(program[-1 if module and len(program) < 2 else int(module)], module, known):
        return None
    count = next((given[name] for name in COUNTS if name in given), "")
    hosts = next((given[name].split(",") for name in HOSTS if name in given), [])
    return " ".join(["torchrun", *_processes(count, hosts), *program])


def _processes(count: str, hosts: list[str]) -> list[str]:
    """torchrun's options: on each host for its own processes."""
    if len(hosts) < 2:
        return ["--nproc-per-node", count or "N"]
    first, _, slots = hosts[0].partition(":")
    meets = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{first}:29500"]
    return ["--nnodes", str(len(hosts)), "--nproc-per-node", slots or "N", *meets]
