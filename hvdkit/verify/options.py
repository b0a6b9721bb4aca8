"""The options that say how scripts are run; `hvdkit verify` and `hvdkit migrate --verify` take the same."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hvdkit.arguments import HOSTS, RANKS

DEFAULT_STEPS = 5
DEFAULT_RANKS = 2


def add_run_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the options to a parser or to a group of one."""
    parser.add_argument(
        *RANKS, dest="np", type=_positive, metavar="N", help="ranks (default 2, or all slots of --hosts)"
    )
    parser.add_argument(
        *HOSTS,
        metavar="A:1,B:1",
        help="hosts and the number of ranks on each (default: this machine, as two hosts)",
    )
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--steps",
        type=_positive,
        metavar="N",
        help=f"optimizer steps (default {DEFAULT_STEPS}; of a single-process original more, to the first "
        "epoch, evaluation and saved file)",
    )
    extent.add_argument(
        "--to-end",
        action="store_true",
        help="run to the natural end: all epochs, evaluations, checkpoints",
    )
    parser.add_argument("--controller", choices=("gloo", "mpi"), default="gloo", help="of horovodrun")
    parser.add_argument(
        "--device", choices=("auto", "cpu"), default="auto", help="cpu: run CUDA scripts without CUDA"
    )
    parser.add_argument(
        "--tolerance", type=float, metavar="X", help="relative difference allowed (default: none)"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=300.0,
        metavar="S",
        help="seconds without a step until a run counts as hung (default 300)",
    )


def request_fields(asked: argparse.Namespace) -> dict[str, Any]:
    """What the options say, as the fields of a `session.Request`. Raises HostError, UsageError."""
    from hvdkit.hosts.lists import enough, parse_hosts
    from hvdkit.observe.records import TO_END

    hosts = parse_hosts(asked.hosts) if asked.hosts is not None else None
    world = asked.np or (hosts.slots if hosts else DEFAULT_RANKS)
    return {
        "world": world,
        "hosts": enough(hosts, world) if hosts else None,
        "steps": TO_END if asked.to_end else asked.steps or DEFAULT_STEPS,
        "reach": not asked.to_end and asked.steps is None,
        "controller": asked.controller,
        "cpu": asked.device == "cpu",
        "tolerance": asked.tolerance,
        "timeout": asked.timeout,
    }


def split_arguments(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """What stands before the first `--`, and what after: the script's own."""
    if "--" not in arguments:
        return arguments, ()
    at = arguments.index("--")
    return arguments[:at], tuple(arguments[at + 1 :])


def show_progress(line: str) -> None:
    """One line to standard error."""
    print(line, file=sys.stderr)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return seconds
