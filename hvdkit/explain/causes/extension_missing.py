"""Horovod was built without the framework."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="extension_missing",
    title="Horovod was installed without {name}{where}",
    why=(
        "pip builds in isolation, where it finds no framework, and installs a Horovod without any extension."
        " Where one rank alone says it, its host has another environment."
    ),
    fix="hvdkit install-horovod, on every host",
    find=says(
        r"Extension (?P<name>horovod\.\w+) has not been built",
    ),
    excerpt="""\
Extension horovod.torch has not been built: /proj/horovod/torch/mpi_lib_v2.cpython-311-x86_64-li ...
If this is not expected, reinstall Horovod with HOROVOD_WITH_PYTORCH=1 to debug the build error.
""",
    general={"name": "horovod.torch"},
)
