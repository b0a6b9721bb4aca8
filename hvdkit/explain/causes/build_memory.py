"""The compiler was killed while Horovod was built."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_memory",
    title="the compiler was killed while Horovod was built",
    why=(
        "Each compiler process takes 1 to 3 GB, and the build starts one for each core: the host or the "
        "container has not enough memory."
    ),
    fix=("MAKEFLAGS=-j1 hvdkit install-horovod, or a build on a host or in a container with more memory"),
    find=says(
        r"(?:fatal error: )?Killed signal terminated program cc1plus",
        r"internal compiler error: Killed \(program cc1plus\)",
        r"cc1plus: out of memory",
        in_job=True,
    ),
    excerpt="""\
      c++: fatal error: Killed signal terminated program cc1plus
""",
    source="https://github.com/google/or-tools/issues/4229",
)
