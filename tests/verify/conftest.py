"""Scripts of `fixtures/` in a folder of their own; each original is run once for all tests that need it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ports import free_port

from hvdkit.observe.records import Run
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.judge import Verification, judge, reducing_alike
from hvdkit.verify.scene import Request, Scene

FIXTURES = Path(__file__).parent / "fixtures"
ARGUMENTS = {"local_rank": ("--resume", "start.pt")}


class Stage:
    """One fixture's scripts, its original's run, and as many migrated runs as tests ask for."""

    def __init__(self, name: str, folder: Path) -> None:
        shutil.copytree(FIXTURES / name, folder / "project")
        self.here = folder / "project"
        original = self.here / "original.py"
        # Of its own, as other copies run beside this one.
        original.write_text(re.sub(r"\b29[0-9]{3}\b", str(free_port()), original.read_text()))
        self.folder = folder
        if name == "local_rank":
            _write_checkpoint(self.here / "start.pt")
        request = Request(
            self.here / "original.py", self.here / "migrated.py", ARGUMENTS.get(name, ()), cpu=name == "cuda"
        )
        self.scene = Scene(request, self.here, folder, lambda line: print(line, file=sys.stderr))
        self.settings = Settings("", request.world, request.steps, cpu=request.cpu)
        self.count = 0
        self.originals: dict[Settings, Run] = {}

    @property
    def original(self) -> Run:
        """The original's run."""
        return self.reducing(self.settings)

    def reducing(self, settings: Settings) -> Run:
        """The original's run under these settings, made on first use."""
        if settings not in self.originals:
            script = self.scene.request.original
            title = f"original {len(self.originals) + 1}"
            self.originals[settings] = self.scene.run(title, script, how_to_start(script), settings)
        return self.originals[settings]

    def migrated(self, edits: dict[str, str] | None = None, controller: str = "gloo") -> Verification:
        """Run the migrated script, with these texts replaced, and compare it with the original."""
        return self.compared(self.edited(edits), controller=controller)

    def edited(self, edits: dict[str, str] | None = None) -> Path:
        """The migrated script with these texts replaced, in a file of its own."""
        text = (self.here / "migrated.py").read_text()
        for old, new in (edits or {}).items():
            assert old in text, f"the fixture has changed: {old!r} is not in it"
            text = text.replace(old, new)
        self.count += 1
        script = self.here / f"migrated_{self.count}.py"
        script.write_text(text)
        return script

    def compared(self, script: Path, **asked: Any) -> Verification:
        """Run this Horovod script and compare it with the original; asked: as of `run`."""
        run = self.run(script, **asked)
        scene = replace(self.scene, request=replace(self.scene.request, migrated=script))
        return judge(scene, self.reducing(reducing_alike(self.settings, run)), run)

    def run(self, script: Path, **asked: Any) -> Run:
        """Run this Horovod script by itself; asked: fields of the request that are others."""
        self.count += 1
        scene = replace(self.scene, request=replace(self.scene.request, **asked))
        return scene.run(f"run{self.count}", script, Start(Launcher.HOROVOD), self.settings)


def _write_checkpoint(path: Path) -> None:
    """What the local_rank script saved earlier: weights, and a momentum that matters."""
    import torch

    torch.manual_seed(42)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1, momentum=0.9)
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stage]:
    """The stage of a fixture by name, set up on first use."""
    stages: dict[str, Stage] = {}

    def get(name: str) -> Stage:
        if name not in stages:
            stages[name] = Stage(name, tmp_path_factory.mktemp(name))
        return stages[name]

    return get
