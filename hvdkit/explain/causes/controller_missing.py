"""Horovod was built without Gloo or MPI."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="controller_missing",
    title="this Horovod has no {what}",
    why=(
        "horovodrun was started with it, or has nothing else: CMake was missing when Horovod was built "
        "(Gloo), or no mpicxx was on PATH (MPI), and pip installs a Horovod without it anyway."
    ),
    fix=(
        "hvdkit install-horovod, which builds with both and proves it; or start with the other one: "
        "horovodrun --gloo or --mpi; horovodrun --check-build shows what this Horovod has"
    ),
    find=says(
        r"(?P<what>Gloo|MPI) support has not been built",
        r"(?P<what>Gloo) support is required to use elastic training, but has not been built",
        r"Neither (?P<what>MPI nor Gloo) support has been built",
    ),
    excerpt="""\
ValueError: MPI support has not been built.  If this is not expected, ensure MPI is installed an ...
""",
    general={"what": "Gloo or MPI"},
    source="https://github.com/horovod/horovod/issues/465",
)
