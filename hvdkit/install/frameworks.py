"""The deep-learning frameworks of this environment, asked in a process of their own.

Not for judging whether a version is supported: the build and the proof show that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hvdkit import interpreter
from hvdkit.install.errors import BrokenFrameworkError, NoFrameworkError

_TORCH = """
import json, os, torch
print(json.dumps({
    "version": torch.__version__,
    "root": os.path.dirname(torch.__file__),
    "flags": ["-D_GLIBCXX_USE_CXX11_ABI=%d" % torch.compiled_with_cxx11_abi()],
    "cuda": torch.version.cuda,
    "gpus": (torch._C._cuda_getArchFlags() or "").split() if torch.version.cuda else [],
}))
"""

_TENSORFLOW = """
import json, os, tensorflow as tf
info = tf.sysconfig.get_build_info()
print(json.dumps({
    "version": tf.__version__,
    "root": os.path.dirname(tf.__file__),
    "flags": [flag for flag in tf.sysconfig.get_compile_flags() if not flag.startswith("-I")],
    "cuda": info.get("cuda_version") if info.get("is_cuda_build") else None,
    "gpus": info.get("cuda_compute_capabilities", []) if info.get("is_cuda_build") else [],
}))
"""

_QUESTIONS = {"torch": _TORCH, "tensorflow": _TENSORFLOW}


@dataclass(frozen=True)
class Framework:
    """An installed framework, as it describes itself.

    root: the package's folder. flags: what it wants extensions compiled with (ABI, standard).
    cuda: the CUDA version it was built for, or None. gpus: architectures it holds code for ("sm_90").
    """

    name: str
    version: str
    root: Path
    flags: tuple[str, ...]
    cuda: str | None
    gpus: tuple[str, ...]


def installed(python: str = sys.executable) -> tuple[Framework, ...]:
    """PyTorch and TensorFlow, those that are installed for `python`.

    Raises: NoFrameworkError if neither is; BrokenFrameworkError if one is and cannot be imported.
    """
    found = tuple(framework for name in _QUESTIONS if (framework := ask(name, python)) is not None)
    if not found:
        raise NoFrameworkError(python)
    return found


def ask(name: str, python: str = sys.executable) -> Framework | None:
    """The framework `name` ("torch" or "tensorflow"), or None where it is not installed.

    Raises: BrokenFrameworkError if it is installed and its import fails.
    """
    # Looked up first, so that a module missing *inside* the framework does not count as its absence.
    question = (
        f"import importlib.util as u, sys\nif u.find_spec({name!r}) is None: sys.exit(3)\n{_QUESTIONS[name]}"
    )
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    answer = subprocess.run(
        interpreter.code(question, python), env=quiet, capture_output=True, text=True, check=False
    )
    if answer.returncode == 3:
        return None
    if answer.returncode != 0:
        raise BrokenFrameworkError(name, (answer.stderr.strip() or "no message").splitlines()[-1])
    facts = json.loads(answer.stdout.splitlines()[-1])
    return Framework(
        name=name,
        version=facts["version"],
        root=Path(facts["root"]),
        flags=tuple(facts["flags"]),
        cuda=facts["cuda"],
        gpus=tuple(facts["gpus"]),
    )
