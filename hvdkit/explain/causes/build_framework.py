"""Horovod's build finds no framework."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_framework",
    title="Horovod's build does not find the framework {detail}",
    why=(
        "pip builds in an isolated environment without a framework, or the framework "
        "belongs to a different Python."
    ),
    fix=(
        "hvdkit install-horovod, which builds in this environment; with pip: install the framework "
        "first, then HOROVOD_WITH_PYTORCH=1 pip install --no-build-isolation --no-cache-dir horovod"
    ),
    find=says(
        r"CMake Error[^\n]*\n\s*Could NOT find (?P<detail>Pytorch|PyTorch|Tensorflow|TensorFlow|Mxnet"
        r"|MXNet)\b",
        r"None of TensorFlow, PyTorch,[^\n]* (?:plugins|were) [^\n]*built(?P<detail>)",
        r"import (?P<detail>torch|tensorflow) failed, is it installed",
        r"Horovod:? [^\n]*requires (?P<detail>PyTorch|TensorFlow)[^\n]* to be installed before",
        in_job=True,
    ),
    excerpt="""\
      CMake Error at /usr/share/cmake/Modules/FindPackageHandleStandardArgs.cmake:230 (message):
""",
    general={"name": "framework"},
    source="https://github.com/horovod/horovod/issues/3507",
)
