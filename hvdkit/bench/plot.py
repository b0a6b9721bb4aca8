"""The picture of a benchmark as a PNG; matplotlib is needed."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from hvdkit.earlier import PICTURE
from hvdkit.errors import HvdkitError
from hvdkit.reports import STDOUT

_COLOURS = {"computing": "#4c9f70", "waiting": "#e0a030", "communicating": "#3d7ea6"}


class PlotError(HvdkitError):
    """The picture cannot be drawn."""


def check(place: Path) -> None:
    """Raises: PlotError where matplotlib is missing, or the picture would go to a terminal.

    It is better said before the measurement than after it.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise PlotError("--png: matplotlib is not installed", fix="pip install 'hvdkit[plot]'") from None
    if place == STDOUT and sys.stdout.isatty():
        raise PlotError("--png: a terminal shows no picture", fix="name a file: --png=bench.png")


def drawn(found: dict[str, Any]) -> bytes:
    """The file. found: what report.data returns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    rates, step = figure.subplots(1, 2)
    kinds = found["kinds"]
    rates.bar([*kinds], [kind["rate"] for kind in kinds.values()], color="#4c9f70")
    rates.axhline(
        kinds["one"]["rate"] * len(found["hosts"]),
        color="gray",
        linestyle="--",
        label="one rank, times ranks",
    )
    rates.set_ylabel(f"{found['unit']}/s")
    rates.legend()
    left = 0.0
    for name, colour in _COLOURS.items():
        step.barh(["a step"], [found[name] * 1e3], left=left, color=colour, label=name)
        left += found[name] * 1e3
    step.set_xlabel("ms")
    step.legend()
    figure.suptitle(f"{found['what']} on {len(found['hosts'])} ranks")
    file = BytesIO()
    figure.savefig(file, format="png", metadata=PICTURE)
    return file.getvalue()
