"""An import goes with its last use, unless another file may take it from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

TRAIN = """import torch
import torch.distributed as dist

dist.init_process_group("gloo")
print(dist.get_rank())
"""
OTHERS = {
    "no other file": ("", False),
    "a file without a framework, of something else": ("import json\n", False),
    "a file without a framework, for another of its names": ("from train import main\nmain()\n", False),
    "a file without a framework, by star": ("from train import *\nrank = dist.get_rank\n", True),
    "a file without a framework, as a module": ("import train\nrank = train.dist.get_rank\n", True),
    "a file with a framework": ("import torch\nfrom train import dist\n", True),
}


@pytest.mark.parametrize("case", OTHERS)
def test_an_import_that_another_file_takes_stays(case: str, tmp_path: Path) -> None:
    other, stays = OTHERS[case]
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "show.py").write_text(other)
    (file,) = make_plan([tmp_path], Options()).changed
    assert file.path.name == "train.py"
    assert ("torch.distributed" in file.after) is stays
