"""How a job is started, as options: `hvdkit run` and `hvdkit bench` have the same."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hvdkit.launch import tuned
from hvdkit.launch.tuned import Setting


def add_choice(parser: argparse.ArgumentParser, dest: str, helps: Mapping[str, str]) -> None:
    """One of some words, each an option of its own. helps: by word."""
    group = parser.add_mutually_exclusive_group()
    for word, said in helps.items():
        group.add_argument(f"--{word}", dest=dest, action="store_const", const=word, help=said)


def add_setting(parser: argparse.ArgumentParser) -> None:
    """The controller, and a file of settings."""
    add_choice(parser, "controller", {name: f"ranks connect through {name}" for name in ("gloo", "mpi")})
    parser.add_argument(
        "--tuned", type=Path, metavar="FILE", help="use the settings that hvdkit tune has written"
    )


def setting(asked: argparse.Namespace) -> Setting:
    """Of these options: a controller that is named is stronger than the file. Raises: TunedError."""
    found = tuned.read(asked.tuned) if asked.tuned is not None else Setting()
    return replace(found, controller=asked.controller or found.controller)
