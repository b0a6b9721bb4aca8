"""Horovod's extension does not load."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="extension_broken",
    title="Horovod's extension does not load with the framework that is installed",
    why=(
        "It is compiled against one exact version of PyTorch or TensorFlow, which has changed "
        "since; or the file is damaged."
    ),
    fix="hvdkit install-horovod --rebuild",
    find=says(
        r"HorovodVersionMismatchError.*",
        r"(?:mpi_lib\w*|horovod/\S+)\.so: (?P<detail>undefined symbol.*|invalid ELF.*|file"
        r" too short.*|cannot open shared.*)",
        r"ImportError: .*horovod\S*\.so: (?P<detail>.*)",
    ),
    excerpt="""\
ImportError: /proj/horovod/torch/mpi_lib_v2.cpython-311-x86_64-linux-gnu.so: file too short
""",
)
