"""Horovod's extension lacks a part of Horovod."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="extension_incomplete",
    title="Horovod's extension was built without a part of Horovod itself{where}: no {symbol}",
    why=(
        "The missing symbol is Horovod's own, so the build left out a source file: GPU support that "
        "CMake enabled in one place and not in the other, most often for ROCm, or objects of an "
        "earlier build that were linked again."
    ),
    fix=(
        "remove the build folder and build again without a cache: pip install --no-cache-dir "
        "--force-reinstall --no-deps horovod==0.28.1 with the same HOROVOD_ variables, or hvdkit "
        "install-horovod --rebuild (CPU and NVIDIA)"
    ),
    find=says(
        r"\.so: undefined symbol: (?P<symbol>_ZNK?7horovod\w+)",
        r"symbol not found in flat namespace '?_?(?P<symbol>_ZNK?7horovod\w+)",
        # TensorFlow names the module of a library by a hash.
        r"module '[0-9a-f]{32}' has no attribute '(?P<symbol>horovod_\w+)'",
        in_job=True,
    ),
    excerpt="""\
ImportError: /opt/conda/lib/python3.8/site-packages/horovod/torch/mpi_lib_v2.cpython-38-x86_64-l ...
""",
    general={"symbol": "SYMBOL"},
    source="https://github.com/horovod/horovod/issues/3927",
)
