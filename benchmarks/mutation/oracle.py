"""What a migrated script computes, prints and saves on two ranks without verify: so it is right or wrong."""

from __future__ import annotations

import math
import pickle
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from truth.warm import Warm

from mutation.originals import MIGRATED, Original
from mutation.probe import plain

MODULES = ("horovod.torch", "torch._dynamo", "mutation.probe")
HOSTS = "localhost:1,127.0.0.1:1"  # where rank and local rank differ
LIMIT = 25.0  # seconds; a job of these takes two, and one that hangs is no mutant
CLOSE = 1e-5
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\bnan\b|\binf\b")

Seen = dict[str, Any]


def seen(warm: Warm, original: Original, text: str, folder: Path) -> tuple[int, Seen]:
    """Exit code of a migrated script, and what was seen of it. folder: a new one."""
    work, out = folder / "work", folder / "out"
    shutil.copytree(original.folder, work)
    out.mkdir()
    (work / MIGRATED).write_text(text)
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    command = ["rank", str(out / "seen"), "1", MIGRATED, *original.arguments]
    code, output = warm.job(HOSTS, command, work, LIMIT)
    (out / "output").write_text(output)
    ranks = [pickle.loads(path.read_bytes()) for path in sorted(out.glob("seen.*"))]
    for rank in ranks[1:]:
        del rank["printed"]  # a person reads rank 0's
    files = {
        str(path.relative_to(work)): _contents(path)
        for path in sorted(work.rglob("*"))
        if path.is_file() and path.read_bytes() != before.get(path) and path.suffix != ".pyc"
    }
    return code, {"ranks": ranks, "files": files}


def _contents(path: Path) -> Any:
    if path.suffix in (".pt", ".pth", ".ckpt"):
        return plain(torch.load(path, weights_only=False))
    return path.read_bytes().decode(errors="replace")


def apart(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """The places where two runs differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys(), key=str):
            if key in one and key in other:
                yield from apart(one[key], other[key], f"{at}/{key}")
            else:
                yield f"{at}/{key}"
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield at
        else:
            for place, (left, right) in enumerate(zip(one, other)):
                yield from apart(left, right, f"{at}/{place}")
    elif isinstance(one, str) and isinstance(other, str):
        numbers = zip(NUMBER.findall(one), NUMBER.findall(other))
        if NUMBER.sub("#", one) != NUMBER.sub("#", other) or not all(
            _close(float(a), float(b)) for a, b in numbers
        ):
            yield at
    elif isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if not _close(one, other):
            yield at
    elif one != other:
        yield at


def _close(one: float, other: float) -> bool:
    return (
        one == other
        or (math.isnan(one) and math.isnan(other))
        or abs(one - other) <= CLOSE * max(abs(one), abs(other), 1e-3)
    )
