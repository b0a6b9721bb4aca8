"""How a job is started, as options: `hvdkit run` and `hvdkit bench` have the same."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from hvdkit.launch import tuned
from hvdkit.launch.tuned import Setting


def add_setting(parser: argparse.ArgumentParser) -> None:
    """The controller, and a file of settings."""
    controller = parser.add_mutually_exclusive_group()
    for name in ("gloo", "mpi"):
        controller.add_argument(
            f"--{name}",
            dest="controller",
            action="store_const",
            const=name,
            help=f"ranks connect through {name}",
        )
    parser.add_argument(
        "--tuned", type=Path, metavar="FILE", help="use the settings that hvdkit tune has written"
    )


def setting(asked: argparse.Namespace) -> Setting:
    """Of these options: a controller that is named is stronger than the file. Raises: TunedError."""
    found = tuned.read(asked.tuned) if asked.tuned is not None else Setting()
    return replace(found, controller=asked.controller or found.controller)
