"""What `hvdkit bench` and `hvdkit tune` train: a model by its name, or a script."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit.errors import UsageError

BUILT_IN = ("mlp", "resnet18", "transformer")  # hvdkit.bench.models, which imports torch


def add_target(parser: argparse.ArgumentParser) -> None:
    """The argument that names it."""
    parser.add_argument(
        "what",
        nargs="?",
        default="transformer",
        metavar="WHAT",
        help=f"{', '.join(BUILT_IN)}, or a script for Horovod (default transformer)",
    )


def check_target(what: Sequence[str], ddp: str | None = None) -> None:
    """Raises: UsageError where it is neither a model nor a script."""
    for each in [what[0], *([ddp] if ddp else [])]:
        if each not in BUILT_IN and not Path(each).is_file():
            raise UsageError(
                f"{each}: neither a model ({', '.join(BUILT_IN)}) nor a script that is there",
                fix="name one of them",
            )
    if what[0] in BUILT_IN and (ddp or what[1:]):
        raise UsageError(f"{what[0]} has no arguments, and DDP trains the same model", fix="leave them out")


def say(text: str) -> None:
    """A line of progress."""
    print(f"hvdkit: {text}", file=sys.stderr, flush=True)
