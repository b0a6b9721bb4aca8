"""How a script is started in a copy of its project, and from where its ranks import."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.docker.layout import Layout, lay_out
from hvdkit.docker.script import read_script
from tests.files import write_files

HOROVOD = "import horovod.torch as hvd\n\nhvd.init()\n"


@pytest.mark.parametrize(
    ("script", "files", "layout"),
    [
        ("train.py", {"helper.py": ""}, Layout(("python", "train.py"), ())),
        ("tools/train.py", {"tools/helper.py": ""}, Layout(("python", "tools/train.py"), ())),
        ("tools/train.py", {"helper.py": ""}, Layout(("python", "tools/train.py"), (".",))),
        ("tools/train.py", {"src/helper/__init__.py": ""}, Layout(("python", "tools/train.py"), ("src",))),
        (
            "tools/train.py",
            {"lib/__init__.py": "", "helper/part.py": ""},
            Layout(("python", "tools/train.py"), (".",)),
        ),
        ("pkg/train.py", {"pkg/__init__.py": ""}, Layout(("python", "-m", "pkg.train"), (".",))),
        (
            "src/a/b/__main__.py",
            {"src/a/__init__.py": "", "src/a/b/__init__.py": ""},
            Layout(("python", "-m", "a.b"), ("src",)),
        ),
    ],
)
def test_layouts(tmp_path: Path, script: str, files: dict[str, str], layout: Layout) -> None:
    helper = next((Path(name) for name in files if "helper" in name), None)
    imported = (
        "" if helper is None else "import helper.part\n" if helper.stem == "part" else "import helper\n"
    )
    write_files(tmp_path, {script: imported + HOROVOD, **files}.items())
    assert lay_out(tmp_path, read_script(tmp_path / script)) == layout
