"""What the command tells the processes of a run, carried as JSON in one environment variable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "HVDKIT_VERIFY"
TWIN = "HVDKIT_TWIN"  # the number of a twin of the original, which has the job's rank of that number
TWIN_KEY = "HVDKIT_TWIN_KEY"  # by which it knows the others
RANK_VARIABLES = (TWIN, "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK")


@dataclass(frozen=True)
class Settings:
    """One run as its processes see it.

    folder: where records go. world: ranks expected. steps: optimizer steps to record.
    local_rank_flag: option that the launcher adds to the script's arguments ("" for none).
    replay: a record of another run whose sample order is used here ("" for none); every rank then starts from
    the same seed, as the devices of the other run's one process did.
    align: set the random state at each batch and each step, so that two ways to draw the sample order
    leave the same random numbers for everything else.
    cpu: run a script that asks for CUDA without it.
    float16: gradients are averaged as Horovod does under fp16 compression.
    adasum: updates are combined by Adasum instead of gradients averaged.
    replicas: devices of a tf.distribute strategy, each recorded as a rank.
    keep: for so many steps the batches are kept, for a run that repeats them.
    own: for so many steps each rank's own gradients are kept, as they are before they are reduced.
    uncompressed: gradients are sent as they are, whatever the script asks for.
    repeat: a record of a run of one process whose batches and learning rates every rank has ("" for none).
    until, least, seconds: where not empty, the run ends before its steps are done, once it has reached these
    things and taken so many steps, or so much time.
    jumps: by how much more the clock jumps at each call of the script.
    twinned: what twins of the original need is kept.
    twins: a record of a run of several ranks of which each process is given one's batches ("" for none).
    program, cells: the program of a notebook, in the work folder; where each of its cells begins (line of the
    program, first line being 1) and what places in it are named by.
    """

    folder: str
    world: int
    steps: int
    seed: int = 20230612
    local_rank_flag: str = ""
    replay: str = ""
    align: bool = False
    cpu: bool = False
    float16: bool = False
    adasum: bool = False
    replicas: int = 1
    keep: int = 0
    own: int = 0
    uncompressed: bool = False
    repeat: str = ""
    until: tuple[str, ...] = ()
    least: int = 0
    seconds: float = 0.0
    jumps: int = 0
    twinned: bool = False
    twins: str = ""
    program: str = ""
    cells: tuple[tuple[int, str], ...] = ()

    @property
    def path(self) -> Path:
        """The record folder."""
        return Path(self.folder)

    def to_environment(self) -> dict[str, str]:
        """The variable to put into a run's environment."""
        return {VARIABLE: json.dumps(asdict(self))}


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings | None:
    """The settings of the run that this process belongs to; None outside a verified run."""
    text = environment.get(VARIABLE)
    if not text:
        return None
    fields = json.loads(text)
    cells = tuple((line, name) for line, name in fields["cells"])
    return Settings(**{**fields, "until": tuple(fields["until"]), "cells": cells})


def launcher_rank(environment: Mapping[str, str] = os.environ) -> int | None:
    """The rank that a launcher or verify gave this process; None when none of them started it."""
    for name in RANK_VARIABLES:
        if environment.get(name, "").isdigit():
            return int(environment[name])
    return None
