"""Failures made to happen now are explained as the logs of them are: these few, since they end at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from failures import launching, own_run, programs

from hvdkit.explain.log import parse
from hvdkit.explain.verdict import judge

CHEAP = (
    "slots/gloo",
    "host_format/no_slots",
    "script_missing/gloo",
    "own_error/one_rank_gloo",
    "own_error/hvdkit_run",
    "crashed/segmentation_fault_gloo",
)
FAILURES = {
    f"{one.cause}/{one.variant}": one for one in [*launching.FAILURES, *own_run.FAILURES, *programs.FAILURES]
}


@pytest.mark.launch
@pytest.mark.parametrize("name", CHEAP)
def test_a_failure_is_explained(name: str) -> None:
    text = FAILURES[name].provoke()
    assert [found.cause.id for found in judge(parse(text)).found][:1] == [name.partition("/")[0]], text
