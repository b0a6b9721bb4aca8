"""The commands of the examples' READMEs, and how they are run."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from ports import free_port

from tests import originals

EXAMPLES = Path(__file__).parents[1] / "examples"
TENSORFLOW = {"keras_gan", "tfrecord"}  # these need it; tests/tf runs them


def commands(example: str) -> list[str]:
    """The lines with a prompt in the README's consoles."""
    text = (EXAMPLES / example / "README.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def environment() -> dict[str, str]:
    """This interpreter's commands first, one thread for each process, and a port that is free."""
    port = str(free_port())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ports = {"MASTER_PORT": port, "PET_MASTER_PORT": port}
    return originals.environment({**os.environ, **ports, "PATH": path, "OMP_NUM_THREADS": "1"})


def is_training(command: str) -> bool:
    return command.startswith(("horovodrun ", "torchrun ", "python train"))
