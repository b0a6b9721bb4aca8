"""A project is migrated in parts that know nothing of each other; who may know of another is in its part."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.source.project.opening import open_project
from hvdkit.source.project.parts import parts

TRAINING = """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.zeros(64, 4), batch_size=4):
    model(x).sum().backward()
    optimizer.step()
"""
DEFINES = "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n"
RUNS = "import torch\nprint(torch.zeros(1))\n"


def parted(folder: Path, files: dict[str, str]) -> list[list[str]]:
    """The names of the files of each part."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = parts(open_project([folder]))
    return [[path.relative_to(folder).as_posix() for path in part.files] for part in found]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("import second\n" + RUNS, RUNS, id="an import"),
        pytest.param(RUNS + "import importlib\nimportlib.import_module('second')\n", RUNS, id="by its name"),
        pytest.param(RUNS + "import os\nos.system('python second.py --epochs 2')\n", RUNS, id="a command"),
        pytest.param(RUNS + "CONFIG = {'_target_': 'second.Net'}\n", DEFINES + RUNS, id="a configuration"),
        pytest.param(RUNS, DEFINES, id="a class that nobody imports"),
        pytest.param(RUNS + "torch.save({}, PATH)\n", RUNS + "torch.load(PATH)\n", id="a checkpoint"),
    ],
)
def test_what_may_know_of_a_file_is_in_its_part(tmp_path: Path, first: str, second: str) -> None:
    assert parted(tmp_path, {"first.py": first, "second.py": second}) == [["first.py", "second.py"]]


def test_files_of_the_same_names_are_in_parts_of_their_own(tmp_path: Path) -> None:
    copy = {"train.py": "import parts\nimport os\nos.system('python other.py')\n" + RUNS, "parts.py": DEFINES}
    files = {f"copy{n}/{name}": text for n in range(3) for name, text in {**copy, "other.py": RUNS}.items()}
    assert parted(tmp_path, files) == [
        [f"copy{n}/other.py", f"copy{n}/parts.py", f"copy{n}/train.py"] for n in range(3)
    ]


def test_the_plan_of_a_folder_holds_what_the_plans_of_its_parts_hold(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(TRAINING)
        (tmp_path / name / "broken.py").write_text("import torch\n(")
    whole = make_plan([tmp_path], Options())
    alone = [make_plan([tmp_path / name], Options()) for name in ("a", "b")]
    assert whole.files == tuple(file for plan in alone for file in plan.files)
    assert whole.programs == tuple(program for plan in alone for program in plan.programs)
    assert sorted(whole.unreadable) == sorted(each for plan in alone for each in plan.unreadable)
    assert len(whole.unreadable) == 2
