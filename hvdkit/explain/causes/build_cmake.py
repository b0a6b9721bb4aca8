"""CMake is missing, too old or too new for Horovod's build."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_cmake",
    title="Horovod's build and CMake do not fit: {seen}",
    why=(
        "Horovod is built with CMake 3.13 or newer. CMake 4 no longer reads what Horovod 0.28.1 says "
        "about versions before 3.5, and the cmake of some systems is older."
    ),
    fix=(
        "python -m pip install 'cmake>=3.18,<4' (`which cmake` must show it), then hvdkit "
        "install-horovod, which also builds with CMake 4"
    ),
    find=says(
        r"(?P<seen>CMake \d[\d.]* or higher is required\.\s+You are running version \d[\d.]*)",
        r"(?P<seen>Compatibility with CMake < 3\.5 has been removed from CMake)",
        r"(?P<seen>No such file or directory: '(?:cmake|[^'\n]*/cmake)')",
        r"(?P<seen>CMake must be installed to build)",
        r"(?P<seen>cmake: (?:command )?not found)",
        in_job=True,
    ),
    excerpt="""\
FileNotFoundError: [Errno 2] No such file or directory: 'cmake'
""",
    general={"seen": "it is missing, too old or too new"},
    source="https://github.com/horovod/horovod/issues/2240",
)
