"""Folders that somebody else made, for benchmarks/fuzz.py.

A tree has modules with the names of others, links, devices, a git configuration that names programs, records
of writes, lists of requirements, and modes, all drawn at random. Whatever is run in it, nothing of it is
executed, nothing outside is printed or written, and every byte is there again after --undo.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SECRET = "wJalrXUtnFEMI"
DDP = """import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 1)).sum().backward()
    optimizer.step()
"""
HVD = "import horovod.torch as hvd\n\nhvd.init()\nprint(hvd.rank())\n"
MODULES = (
    *("json", "importlib", "runpy", "re", "types", "subprocess", "logging", "socket", "queue", "argparse"),
    *("ast", "shlex", "tempfile", "yaml", "rich", "numpy", "torch", "tensorflow", "horovod", "hvdkit", "pip"),
    "sitecustomize",
)
_NAMES = (
    "train.py",
    "x.ipynb",
    "a b.py",
    "-rf.py",
    "a\nb.py",
    "\x1b[31m.py",
    "caf\udce9.py",
    "run.sh",
    "job",
)
_FOLDERS = (".", "sub", "sub/deep", "src", ".github")
# Of a git configuration; each names a program that leaves a trace.
_SETTINGS = (
    "[core]\n\tfsmonitor = {program}\n",
    "[core]\n\thooksPath = {tree}\n",
    "[core]\n\tworktree = {outside}\n",
    "[core]\n\tpager = {program}\n\tsshCommand = {program}\n\teditor = {program}\n",
    '[filter "evil"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n',
    '[filter "a=b"]\n\tclean = {program}\n\trequired = true\n',
    '[diff "evil"]\n\ttextconv = {program}\n\tcommand = {program}\n[diff]\n\texternal = {program}\n',
    "[alias]\n\tstatus = !{program}\n\trev-parse = !{program}\n",
    '[remote "origin"]\n\turl = ext::{program}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n',
    "[extensions]\n\tpartialClone = origin\n\tworktreeConfig = true\n",
    "[include]\n\tpath = {outside}/theirs.py\n",
    "[include]\n\tpath = more\n",
    "[core]\n\tautocrlf = true\n\tfileMode = false\n\tignoreCase = true\n",
    "[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n",
    "[core\n",
    "\x00\xff = [",
)
_HOOKS = ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman")
_ATTRIBUTES = (
    "* filter=evil\n",
    "*.py filter=a=b diff=evil\n",
    "* text=auto eol=crlf\n",
    "[attr]x filter=evil\n* x\n",
)
_LISTS = (
    "-r ../outside/secret\n",
    "-r {outside}/secret\n",
    "-r .env\n",
    "-r .git/config\n",
    "-c ../outside/secret\n",
    "numpy\n-r sub/requirements.txt\n",
    "torch\npyyaml>=6\n",
)
_BEGIN = {
    "train.py": DDP,
    "job.py": HVD,
    "job.log": "[0]<stderr>:Segmentation fault\n",
    "timeline.json": '[{"name": "ALLREDUCE", "ph": "B", "ts": 1, "pid": 1}]\n',
}
# What is run, and what takes it back; without the latter nothing may change.
_COMMANDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("init",), ()),
    (("migrate", "."), ()),
    (("migrate", ".", "--json", "-", "--check"), ()),
    (("check", "."), ()),
    (("explain", "--log", "job.log"), ()),
    (("timeline", "timeline.json"), ()),
    (("migrate", ".", "--write"), ("migrate", "--undo")),
    (("migrate", ".", "--write", "--allow-no-vcs", "--allow-dirty"), ("migrate", "--undo")),
    (("check", ".", "--fix", "--allow-no-vcs", "--allow-dirty"), ("check", "--undo")),
    (("docker", "job.py"), ("docker", "--undo")),
    (("docker", "job.py", "--force", "--kubernetes"), ("docker", "--undo")),
)
# By the installed command, whose helpers are processes of their own; seldom, as they import frameworks.
_STARTED = (
    *(
        ("init",),
        ("migrate", "."),
        ("check", "."),
        ("docker", "job.py", "--output", "made"),
        ("migrate", "--help"),
    ),
    *(("doctor", "--only", "python,torch,horovod"), ("install-horovod", "--dry-run")),
)
EACH_STARTED = 40


class Trees:
    """Makes trees below a scratch folder, and runs commands in them."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.fired = scratch / "fired"
        self.outside = scratch / "outside"
        self.outside.mkdir()
        (self.outside / "theirs.py").write_text(DDP)
        lines = f"aws_secret_access_key = {SECRET}\ntorchrun --nproc_per_node 2 train.py {SECRET}\n"
        (self.outside / "secret").write_text(lines)
        (self.outside / "secret").chmod(0o600)

    def attack(self, number: int, chance: random.Random) -> None:
        """Make a tree, and run everything in it. Raises: AssertionError with what should not be."""
        tree, here = self.scratch / "hostile", Path.cwd()
        self.fired.unlink(missing_ok=True)
        try:
            self._make(tree, chance)
            os.chdir(tree)
            before, theirs = snapshot(tree), snapshot(self.outside)
            for command, back in _COMMANDS:
                said = self._said(command) + (self._said(back) if back else "")
                self._judge(command, said)
                assert snapshot(tree) == before, f"{command}: {differing(before, snapshot(tree))}\n{said}"
                assert snapshot(self.outside) == theirs, f"{command}: outside of the tree"
            if number % EACH_STARTED == 0:
                self._start(chance.choice(_STARTED))
        finally:
            os.chdir(here)
            removed(tree)

    def _said(self, command: Sequence[str]) -> str:
        from hvdkit.cli import main

        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = main(list(command))
            except SystemExit as end:
                code = int(end.code or 0)
        assert code in (0, 1, 2), f"{command} ended with {code}"
        return output.getvalue()

    def _start(self, command: Sequence[str]) -> None:
        program = str(Path(sys.executable).with_name("hvdkit"))
        done = subprocess.run(
            [program, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1, 2), f"{command} ended with {done.returncode}: {done.stderr}"
        self._judge(command, done.stdout + done.stderr)

    def _judge(self, command: Sequence[str], said: str) -> None:
        assert not self.fired.exists(), f"{command} ran {self.fired.read_text()}"
        assert "Traceback (most" not in said, f"{command}: {said}"
        assert SECRET not in said, f"{command} printed what is outside: {said}"

    def _make(self, tree: Path, chance: random.Random) -> None:
        tree.mkdir()
        for name, text in _BEGIN.items():
            (tree / name).write_text(text)
        kinds = (
            self._program,
            self._module,
            self._module,
            self._link,
            self._device,
            self._record,
            self._list,
        )
        for _ in range(chance.randint(0, 14)):
            chance.choice(kinds)(tree, chance)
        for path in sorted(tree.rglob("*")):
            if chance.random() < 0.05 and not path.is_symlink():
                path.chmod(chance.choice((0o000, 0o400, 0o444, 0o555, 0o600, 0o666, 0o777, 0o4755)))
        if chance.random() < 0.6:
            self._git(tree, chance)

    def _git(self, tree: Path, chance: random.Random) -> None:
        """A repository, mostly with everything committed, and then a configuration that git obeys."""
        if chance.random() < 0.5:
            written(tree / ".gitattributes", chance.choice(_ATTRIBUTES))
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(tree)]
        for command in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-qm", "x"]):
            if command[0] == "init" or chance.random() < 0.9:
                subprocess.run([*git, *command], capture_output=True, check=False)  # some cannot be added
        repository = tree / ".git"
        if not (repository / "config").is_file():  # a link of the tree has its name
            return
        places = {
            "program": f'"touch {self.fired}; cat"',
            "tree": repository / "hooks",
            "outside": self.outside,
        }
        with (repository / "config").open("a", encoding="utf-8") as config:
            for _ in range(chance.randint(0, 4)):
                text = chance.choice(_SETTINGS)
                config.write(text if text.startswith(("\x00", "[core\n")) else text.format(**places))
        written(repository / "more", f"[core]\n\tfsmonitor = {places['program']}\n")
        for name in chance.sample(_HOOKS, chance.randint(0, 3)):
            written(repository / "hooks" / name, f"#!/bin/sh\necho {name} >> {self.fired}\n")
            (repository / "hooks" / name).chmod(0o755)
        if chance.random() < 0.5:
            os.utime(tree / "train.py", (1, 1))  # git reads it again, by its filters

    def _program(self, tree: Path, chance: random.Random) -> None:
        texts = (DDP, HVD, "import helper\n" + DDP, "", "{}", "\x00", "# coding: undefined\n")
        written(self._place(tree, chance, chance.choice(_NAMES)), chance.choice(texts))

    def _module(self, tree: Path, chance: random.Random) -> None:
        name = chance.choice(MODULES)
        text = f"open({str(self.fired)!r}, 'a').write({name + ' '!r})\n"
        if chance.random() < 0.3:
            written(self._place(tree, chance, f"{name}/__init__.py"), text)
        else:
            written(tree / f"{name}.py", text)

    def _link(self, tree: Path, chance: random.Random) -> None:
        names = (
            *_NAMES,
            "requirements.txt",
            "pyproject.toml",
            "Dockerfile",
            "compose.yaml",
            ".hvdkit",
            "job.log",
        )
        targets = (
            "../outside/theirs.py",
            "../outside/secret",
            "../outside",
            "/dev/zero",
            ".",
            "..",
            "gone",
            ".git",
        )
        target = chance.choice(
            (*targets, ".git/config", ".git/hooks/pre-commit", str(self.outside / "secret"))
        )
        place = self._place(tree, chance, chance.choice(names))
        if not os.path.lexists(place):
            place.symlink_to(target)

    def _device(self, tree: Path, chance: random.Random) -> None:
        name = chance.choice((*_NAMES, "requirements.txt", "pyproject.toml", ".hvdkit/lock", "timeline.json"))
        place = self._place(tree, chance, name)
        kind = chance.choice(("fifo", "socket", "zero", "folder"))
        if os.path.lexists(place):
            return
        if kind == "fifo":
            os.mkfifo(place)
        elif kind == "folder":
            place.mkdir()
        elif kind == "zero":
            with contextlib.suppress(PermissionError):  # root alone makes devices
                os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5))
        else:
            with (
                socket.socket(socket.AF_UNIX) as made,
                contextlib.suppress(OSError),
            ):  # a name that is too long
                made.bind(os.fsencode(place))

    def _record(self, tree: Path, chance: random.Random) -> None:
        """One that came with the tree, or that this user's key sealed and that leads elsewhere."""
        from hvdkit.migrate.write.seal import sealed

        path = chance.choice(
            (".git/config", "sub/.git/config", "../outside/theirs.py", "train.py", str(self.outside))
        )
        there = tree / path
        data = there.read_bytes() if there.is_file() and not there.is_symlink() else b""
        entry = {
            "path": path,
            "before": base64.b64encode(data + b"\n[core]\n").decode(),
            "after_sha256": hashlib.sha256(data).hexdigest(),
        }
        own = path != "train.py" and chance.random() < 0.5
        text = (
            sealed([entry])
            if own
            else json.dumps(chance.choice(([entry], {"files": [entry], "seal": "0" * 64}))).encode()
        )
        record = tree / ".hvdkit" / f"undo-{chance.choice((1, 2, 10**9))}.json"
        written(record, text)

    def _list(self, tree: Path, chance: random.Random) -> None:
        written(tree / ".env", f"AWS_SECRET={SECRET}\n")
        text = chance.choice(_LISTS).format(outside=self.outside)
        written(self._place(tree, chance, "requirements.txt"), text)

    def _place(self, tree: Path, chance: random.Random, name: str) -> Path:
        """Where something of that name is made; the tree itself where a file or a link is in the way."""
        place = (tree if name.startswith(".") else tree / chance.choice(_FOLDERS)) / name
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            place.parent.mkdir(parents=True, exist_ok=True)
        return place if place.parent.is_dir() and not place.parent.is_symlink() else tree / place.name


def written(path: Path, data: str | bytes) -> None:
    """Write a file where nothing is yet, through no link."""
    if path.parent.is_symlink() or os.path.lexists(path):
        return
    with contextlib.suppress(FileExistsError, NotADirectoryError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))


def snapshot(tree: Path) -> dict[str, tuple[int, bytes]]:
    """Kind, permissions and bytes of everything below a folder, but for hvdkit's own records.

    What is written has no set-user-ID bit again.
    """
    found = {}
    for root, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if Path(root, name) != tree / ".hvdkit"]
        for name in (*folders, *files):
            path = Path(root, name)
            mode = path.lstat().st_mode & ~(stat.S_ISUID | stat.S_ISGID)
            data = path.read_bytes() if stat.S_ISREG(mode) else b""
            found[str(path)] = mode, os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else data
    return found


def differing(before: dict[str, tuple[int, bytes]], after: dict[str, tuple[int, bytes]]) -> list[str]:
    """The paths that are not as they were."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def removed(tree: Path) -> None:
    """Remove a tree, whatever its modes."""
    for root, _, _ in os.walk(tree):
        Path(root).chmod(0o700)
    shutil.rmtree(tree, ignore_errors=True)
    if tree.exists():
        subprocess.run(["rm", "-rf", str(tree)], check=True)
