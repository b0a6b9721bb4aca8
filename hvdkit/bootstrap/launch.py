"""What one launcher says about this process, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meeting:
    """Where the ranks of a launcher that Horovod does not know find each other.

    root: name or address of rank 0's host, and what said so. port: the control port that rank 0 listens on.
    job: the same for all ranks of a job, another one for another job. nodes: the launcher's names of all
    hosts, for messages; empty where it does not tell.
    """

    root: str
    said_by: str
    port: int
    job: str
    nodes: str = ""


@dataclass(frozen=True)
class Launch:
    """One launcher's account of this process. local_size is None where the launcher does not tell it."""

    launcher: str
    rank: int
    size: int
    size_variable: str
    local_size: int | None = None
