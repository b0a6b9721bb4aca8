"""A folder of somebody else: no command that only reads runs anything of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.cli import COMMANDS

ROOT = Path(__file__).parents[1]
# Python's own, those of packages that hvdkit uses, and what Python imports by name at its start.
NAMES = (
    *("json", "importlib", "runpy", "re", "types", "subprocess", "logging", "socket", "queue", "argparse"),
    *("ast", "shlex", "tempfile", "yaml", "rich", "numpy"),
    *("torch", "tensorflow", "horovod", "hvdkit", "pip", "sitecustomize"),
)
SCRIPT = "import horovod.torch as hvd\n\nhvd.init()\nprint(hvd.rank())\n"
READING = (
    *(
        "migrate .",
        "migrate . --json -",
        "check .",
        "check --fix .",
        "init",
        "docker train.py",
        "docker --undo",
    ),
    *("explain HVD201", "explain --log job.log", "rules", "timeline timeline.json", "completion bash"),
    *("migrate . --write --allow-no-vcs", "migrate --undo"),
    *("doctor", "install-horovod --dry-run", "install-horovod --check"),
    *("--help", "--version", *(f"{name} --help" for name in COMMANDS)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with modules of these names, each of which leaves its name in `../fired` when it is run."""
    made = tmp_path_factory.mktemp("scratch") / "project"
    made.mkdir()
    assert len(NAMES) == 22
    for name in NAMES:
        (made / f"{name}.py").write_text(f"open({str(made.parent / 'fired')!r}, 'a').write({name + ' '!r})\n")
    (made / "train.py").write_text(SCRIPT)
    (made / "job.log").write_text("[0]<stderr>:Segmentation fault\n")
    events = [{"name": "ALLREDUCE", "ph": "B", "ts": 1, "pid": 1}, {"ph": "E", "ts": 5, "pid": 1}]
    (made / "timeline.json").write_text(json.dumps(events))
    return made


def ran(folder: Path, command: list[str], **variables: str) -> tuple[str, str]:
    """The modules of the folder that a command has run, and what it printed."""
    fired = folder.parent / "fired"
    fired.unlink(missing_ok=True)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode in (0, 1, 2) and "Traceback" not in said, said
    return fired.read_text() if fired.exists() else "", said


@pytest.mark.parametrize("command", READING)
def test_nothing_of_the_folder_is_run(folder: Path, command: str) -> None:
    """An empty PYTHONPATH names no folder either."""
    hvdkit = str(Path(sys.executable).with_name("hvdkit"))
    assert ran(folder, [hvdkit, *command.split()], PYTHONPATH="")[0] == ""


def test_python_m_runs_what_python_itself_looks_up(folder: Path) -> None:
    """`python -m` reads the folder before hvdkit begins: no page advises it. From then on nothing is read."""
    program = "import runpy, sys; print(*sys.modules)"
    begun = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    (folder / "hvdkit.py").rename(folder / "hvdkit.txt")
    for name in {*NAMES} & {*begun.stdout.split()}:
        (folder / f"{name}.py").rename(folder / f"{name}.txt")
    try:
        for command in ("migrate .", "check .", "docker train.py --output made", "init"):
            assert ran(folder, [sys.executable, "-m", "hvdkit", *command.split()])[0] == "", command
    finally:
        for file in folder.glob("*.txt"):
            file.rename(file.with_suffix(".py"))


def test_no_page_advises_it() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "hvdkit").rglob("*.py")]
    advised = re.compile(r"(?<!venv/bin/)python3? -m hvdkit(?![\w.])")
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages}
    found = [page for page, text in texts.items() if advised.search(text)]
    assert found == ["docs/security.md", "hvdkit/__main__.py"], "where it is advised against"
