"""What a framework and its Horovod extension say of themselves: hvdkit.examination.probe torch, as a program.

A process of its own: importing a framework takes seconds, and a broken one may end the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hvdkit import interpreter

TIMEOUT_S = 180.0  # a cold file system under load; a healthy one needs a few seconds


def ask(framework: str) -> dict[str, Any] | None:
    """What `main` prints, or {"error": ...}; None where the framework is not installed.

    Keys: version, cuda (version it was built for, or None), gpus (that it sees), horovod: {"mpi", "gloo",
    "nccl"} as booleans, or {"error"} where the extension does not load.
    Raises: TimeoutError.
    """
    if find_spec(framework) is None:
        return None
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = interpreter.module("hvdkit.examination.probe", framework)
    try:
        answer = subprocess.run(
            command, env=quiet, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        # A busy machine or a slow file system is not a broken framework: not known, rather than wrong.
        raise TimeoutError(f"`import {framework}` takes longer than {TIMEOUT_S:g} s") from None
    if answer.returncode != 0:
        last = (answer.stderr.strip() or f"exit code {answer.returncode}").splitlines()[-1]
        return {"error": f"`import {framework}` fails: {last}"}
    facts: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return facts


def hidden_by(package: str, folder: Path) -> str:
    """The file of a folder that a script there imports instead of an installed package, or ""."""
    installed = find_spec(package)
    for file in (folder / package / "__init__.py", folder / f"{package}.py"):
        if file.is_file() and not (installed and installed.origin and file.samefile(installed.origin)):
            return str(file)
    return ""


def main(framework: str) -> None:
    """Print the facts as the last line."""
    facts = _torch() if framework == "torch" else _tensorflow()
    facts["horovod"] = _extension(framework)
    print(json.dumps(facts))


def _torch() -> dict[str, Any]:
    torch = import_module("torch")
    return {
        "version": str(torch.__version__),
        "cuda": torch.version.cuda,
        "gpus": torch.cuda.device_count(),
    }


def _tensorflow() -> dict[str, Any]:
    tensorflow = import_module("tensorflow")
    build = tensorflow.sysconfig.get_build_info()
    return {
        "version": str(tensorflow.__version__),
        "cuda": build.get("cuda_version") if build.get("is_cuda_build") else None,
        "gpus": len(tensorflow.config.list_physical_devices("GPU")),
    }


def _extension(framework: str) -> dict[str, Any]:
    name = f"horovod.{framework}.mpi_ops"
    try:
        extension = import_module(name)
        return {part: bool(getattr(extension, f"{part}_built")()) for part in ("mpi", "gloo", "nccl")}
    except Exception as error:  # whatever the extension's import does, it is the answer
        return {"error": f"`import {name}` fails: {type(error).__name__}: {str(error).splitlines()[0]}"}


if __name__ == "__main__":
    main(sys.argv[1])
