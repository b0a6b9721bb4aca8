"""A few of each kind of input that benchmarks/fuzz.py makes; the whole is run by hand."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from fuzz import COUNTS, Fuzz

FEW = {
    "programs": 40,
    "nodes": 300,
    "records": 60,
    "logs": 40,
    "messages": 200,
    "names": 20,
    "trees": 25,
    "kills": 4,
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", COUNTS)
def test_nothing_is_found(kind: str, tmp_path: Path) -> None:
    done, found = Fuzz(7, tmp_path).run(kind, FEW[kind], time.monotonic() + 3600)
    assert (done, found) == (FEW[kind], [])
