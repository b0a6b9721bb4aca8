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


IN_ONE_LINE = {
    "torch, torch.distributed as dist, torch.multiprocessing as mp": "torch",
    "torch.distributed as dist, torch, torch.multiprocessing as mp": "torch",
    "torch.distributed as dist, torch.multiprocessing as mp, torch": "torch",
    "torch, torch.distributed as dist, os, torch.multiprocessing as mp": "torch, os",
}
SPAWNED = """import {imports}

def worker(rank):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    print(dist.get_rank(), torch.ones(1))

if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
"""


@pytest.mark.parametrize("imports", IN_ONE_LINE)
def test_several_names_of_one_line_go(imports: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SPAWNED.format(imports=imports))
    (file,) = make_plan([tmp_path], Options()).changed
    assert f"import {IN_ONE_LINE[imports]}\n" in file.after
    assert "dist" not in file.after and "multiprocessing" not in file.after


SENT = """def train():
    import os

    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    print(dist.get_rank(), torch.ones(1), os.getpid())

{rest}send(train)
"""


def test_a_function_that_imports_all_it_needs_imports_horovod_too(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SENT.format(rest=""))
    (file,) = make_plan([tmp_path], Options()).changed
    assert "    import os\n\n    import horovod.torch as hvd\n    import torch\n" in file.after
    assert "\nimport" not in file.after


@pytest.mark.parametrize(
    "rest",
    [
        "import torch\n",
        "def other(dist):\n    dist = None\n\nimport torch.distributed as dist\nprint(dist.get_rank())\n",
    ],
)
def test_else_the_module_imports_it(tmp_path: Path, rest: str) -> None:
    (tmp_path / "train.py").write_text(SENT.format(rest=rest))
    (file,) = make_plan([tmp_path], Options()).changed
    assert "\nimport horovod.torch as hvd\n" in file.after
    assert "    import horovod" not in file.after


ON_TOP = {
    "import os\n\n": "import horovod.torch as hvd\n",
    "import os\n\nimport torch.distributed as dist\n\n\n": "import horovod.torch as hvd\n",
    "# A comment.\n\nimport os\n\n": "# A comment.\n",
    "# A comment.\nimport os\n\n": "# A comment.\n",
    '"""A docstring."""\nimport os\n\n': '"""A docstring."""\n',
}


@pytest.mark.parametrize("top", ON_TOP)
def test_no_blank_line_is_left_on_top_of_the_file(top: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f'{top}{TRAIN}os.environ["MASTER_ADDR"] = "localhost"\n')
    (file,) = make_plan([tmp_path], Options()).changed
    assert file.after.startswith(ON_TOP[top])
    assert "import os" not in file.after


def test_no_blank_line_is_left_at_the_end_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f'import os\n{TRAIN}\n\nos.environ["MASTER_ADDR"] = "localhost"\n')
    (file,) = make_plan([tmp_path], Options()).changed
    assert file.after.endswith("print(hvd.rank())\n")
