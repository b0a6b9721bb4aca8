"""No C++ compiler, or one that is too old, for the build of Horovod."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_compiler",
    title="Horovod cannot be built: {seen}",
    why=(
        "Its extension is compiled for the framework on this host, with g++ 8 or newer and Python's headers."
    ),
    fix=(
        "apt-get install g++ make cmake python3-dev (or module load gcc), then hvdkit install-horovod; "
        "where another compiler is first: CXX=/usr/bin/g++-12"
    ),
    find=says(
        r"(?P<seen>No CMAKE_CXX_COMPILER could be found)",
        r"(?P<seen>CMake Error: CMAKE_CXX_COMPILER not set)",
        r"(?P<seen>command '?(?:g\+\+|gcc|c\+\+|cc"
        r"|x86_64-linux-gnu-g\+\+)'? failed: No such file or directory)",
        r"(?P<seen>does not\s+know the compile flags to use to enable it)",
        r"(?P<seen>Could not find compiler compatible with this \w+ installation)",
        r"(?P<seen>fatal error: Python\.h: No such file or directory)",
        r"(?P<seen>unrecognized command line option .-std=c\+\+1[47].)",
        in_job=True,
    ),
    excerpt="""\
  CMake Error at CMakeLists.txt:17 (project):
""",
    general={"seen": "no compiler"},
    source="https://github.com/horovod/horovod/issues/3027",
)
