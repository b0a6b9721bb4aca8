"""The README shows what hvdkit does today."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from hvdkit.cli import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_diff_is_the_real_one() -> None:
    mnist = ROOT / "examples" / "mnist"
    before = (mnist / "train_ddp.py").read_text().splitlines()
    after = (mnist / "train_ddp_horovod.py").read_text().splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    shown = re.search(r"```diff\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    real = iter(lines)
    excerpt = shown.group(1).splitlines()
    assert len(excerpt) == 12
    assert all(line in real for line in excerpt), "lines of the real diff, in its order"


def test_every_command_named_is_one() -> None:
    named = set(re.findall(r"hvdkit ([a-z][a-z-]+)", README))
    assert named - set(COMMANDS) <= {"takes", "could", "yet", "refuses"}


def test_it_fits_on_two_screens() -> None:
    assert len(README.splitlines()) <= 60


def test_every_linked_page_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
