"""`python -m hvdkit.notebook train.ipynb train.py` makes the program of a notebook.

An image runs it while it is built, `hvdkit verify` before each run, so that the program is always the
notebook's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit.source.notebook import program_of


def main(argv: Sequence[str]) -> None:
    """Write the program of the notebook argv[0] to the file argv[1]."""
    notebook, program = map(Path, argv)
    program.write_text(program_of(notebook), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
