"""The command-line flags of Horovod's own examples, for a script's argparse parser.

Not for launching: the number of processes and their hosts are horovodrun's arguments.
"""

from __future__ import annotations

import argparse
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add `--fp16-allreduce --use-adasum --batches-per-allreduce --gradient-predivide-factor`.

    The names are those of Horovod's examples. Returns the parser.

    Raises:
        argparse.ArgumentError: the parser already has one of them.
    """
    group = parser.add_argument_group("horovod")
    group.add_argument(
        "--fp16-allreduce",
        action="store_true",
        help="send gradients as 16-bit floats: half the traffic, a little precision lost",
    )
    group.add_argument(
        "--use-adasum",
        action="store_true",
        help="combine gradients with Adasum instead of averaging (needs MPI, or NCCL on GPUs)",
    )
    group.add_argument(
        "--batches-per-allreduce",
        type=_positive_int,
        default=1,
        metavar="N",
        help="backward passes before gradients are exchanged; the global batch grows N times (default: 1)",
    )
    group.add_argument(
        "--gradient-predivide-factor",
        type=_positive_float,
        default=1.0,
        metavar="F",
        help="divide gradients by F before the sum and by size/F after it, so that large sums do not "
        "overflow in 16 bits (default: 1.0)",
    )
    return parser


def optimizer_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """The flags of `add_arguments` as keywords of `DistributedOptimizer`."""
    names = ("fp16_allreduce", "use_adasum", "batches_per_allreduce", "gradient_predivide_factor")
    return {name: getattr(args, name) for name in names}


def _positive_int(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value


def _positive_float(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value
