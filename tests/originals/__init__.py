"""For tests that run scripts as they were before their migration, under torch.distributed, to their end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The same environment, in which Python processes take up `sitecustomize.py` beside this file."""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), environ.get("PYTHONPATH", "")]))
    return {**environ, "PYTHONPATH": path}
