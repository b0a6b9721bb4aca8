"""The device of each rank: on hand-made records, and in a script for GPUs whose ranks take one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.observe.records import DEVICE, Event, Run, Step
from hvdkit.verify.devices import check_devices
from hvdkit.verify.hook.cpu import Devices
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify_alone
from hvdkit.verify.shapes import apart, together

ROOT = Path(__file__).parents[2]
NAME = "each rank of a host has its own device"


def run(*devices: str) -> Run:
    """Ranks that ask for these devices, a digit each."""
    return Run(
        Path(),
        {
            rank: (Step(0, 1, (0.1,), (), events=tuple(Event(DEVICE, name) for name in names)),)
            for rank, names in enumerate(devices)
        },
    )


CASES = {
    "by local rank": ((run("0", "0"), apart(2)), (run("0", "1"), together(2)), ""),
    "by rank": (
        (run("0", "1"), apart(2)),
        (run("0", "1"), together(2)),
        "rank 1 asks for cuda:1 and rank 0 for cuda:0: each has local rank 0 on its host",
    ),
    "one for all": (
        (run("0", "0"), apart(2)),
        (run("0", "0"), together(2)),
        "ranks 0 and 1 of one host ask for cuda:0",
    ),
    "the first one, too": (
        (run("0", "0"), apart(2)),
        (run("0", "01"), together(2)),
        "ranks 0 and 1 of one host ask for cuda:0",
    ),
    "2 x 2 by rank": ((run("0", "1", "2", "3"), apart(4)), (run(), together(4)), "rank 2 asks for cuda:2"),
    "2 x 2": ((run("0", "1", "0", "1"), apart(4)), (run("0", "1", "2", "3"), together(4)), ""),
}


@pytest.mark.parametrize("case", CASES)
def test_records(case):
    *placed, seen = CASES[case]
    [found] = check_devices(*placed)
    assert found.holds is (not seen) and seen in found.detail


def test_nothing_is_said_where_one_rank_or_none_asks():
    assert not list(check_devices((run("", ""), together(2)), (run("0", ""), together(2))))


def test_what_is_asked_for():
    asked: list[int] = []
    devices = Devices(asked.append)
    devices.choose(1)
    kept = [devices.on_cpu(device) for device in ("cpu", "meta")]
    mapped = [str(devices.on_cpu(device)) for device in ("cuda", "cuda:0", 2)]
    assert kept == ["cpu", "meta"] and mapped == ["cpu"] * 3
    assert asked == [1, 1, 0, 2]


@pytest.mark.launch
@pytest.mark.parametrize(
    ("device", "holds"),
    [
        ("hvd.local_rank()", True),
        ("hvd.rank() % torch.cuda.device_count()", True),
        ("0", False),
    ],
)
def test_on_the_cpu(tmp_path, monkeypatch, device, holds):
    shutil.copytree(ROOT / "benchmarks" / "migrations" / "gpu", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    script = Path("right.py")
    text = script.read_text()
    assert text.count("local_rank = hvd.local_rank()") == 1
    script.write_text(text.replace("local_rank = hvd.local_rank()", f"local_rank = {device}"))
    script.write_text(
        script.read_text().replace("    hvd.init()\n", "    hvd.init()\n    hvd.local_rank()\n")
    )
    asked = Request(script, script, steps=2, cpu=True)
    found = {
        held.name: held for held in verify_alone(asked, lambda line: print(line, file=sys.stderr)).invariants
    }
    assert found[NAME].holds is holds, found[NAME].detail
    assert holds or found[NAME].detail == "ranks 0 and 1 of one host ask for cuda:0"
