"""What is mutated: pairs of an original and a right migration, and programs that migrate takes to Horovod."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from truth.choices import drawn
from truth.claims import migrated
from truth.programs import epochs_of, options
from truth.runs import written
from truth.warm import Warm

from hvdkit.verify.detect import Launcher, how_to_start

ROOT = Path(__file__).parents[2]
ORIGINAL, MIGRATED = "original.py", "migrated.py"
# Folders of an original and its migration, written by hand.
PAIRS = (
    *(
        f"benchmarks/migrations/{name}/right.py"
        for name in ("accumulate", "byhand", "ddp", "resume", "single", "tensors")
    ),
    *(
        f"tests/verify/fixtures/{name}/migrated.py"
        for name in ("accumulate", "convnet", "gan", "plain", "single")
    ),
    *(
        f"benchmarks/mutation/pairs/{name}/right.py"
        for name in ("anew", "drawn", "onecycle", "stream", "warmup")
    ),
)


@dataclass(frozen=True)
class Original:
    """folder: the original and what it needs. text: the migrated script. arguments: of both scripts."""

    name: str
    folder: Path
    text: str
    arguments: tuple[str, ...]

    @property
    def is_one_process(self) -> bool:
        """Else it is the migration's to draw and step as the original's ranks do."""
        return how_to_start(self.folder / ORIGINAL).launcher is Launcher.SINGLE


def by_hand(scratch: Path) -> Iterator[Original]:
    """The pairs, each in a folder of its own."""
    for pair in PAIRS:
        right = ROOT / pair
        name = f"{right.parents[1].name}/{right.parent.name}"
        folder = scratch / name.replace("/", "-")
        folder.mkdir()
        for path in right.parent.iterdir():
            if path.suffix == ".py" and path != right and not path.name.startswith("right"):
                shutil.copy(path, folder)
        if (folder / "prepare.py").exists():
            subprocess.run([sys.executable, "prepare.py"], cwd=folder, check=True)
        yield Original(name, folder, right.read_text(), ())


def generated(warm: Warm, seed: int, scratch: Path) -> Original | None:
    """The program of a seed, where migrate says that it is ready and changes train.py alone."""
    choices = drawn(seed)
    folder, after = scratch / f"truth-{seed}", scratch / f"truth-{seed}-after"
    written(choices, folder)
    shutil.copytree(folder, after)
    if not migrated(warm, after, scratch / f"truth-{seed}.json").ready:
        return None
    (folder / "train.py").rename(folder / ORIGINAL)
    text = (after / "train.py").read_text()
    others = [path for path in folder.iterdir() if path.name != ORIGINAL and path.suffix == ".py"]
    if any(path.read_bytes() != (after / path.name).read_bytes() for path in others):
        return None
    return Original(f"truth/{seed}", folder, text, tuple(options(choices, epochs_of(choices))))
