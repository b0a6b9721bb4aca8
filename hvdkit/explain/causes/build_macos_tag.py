"""The macOS that the wheel is built for is newer than the one that Python was built for."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_macos_tag",
    title="pip refuses the wheel that was built: {said}",
    why=(
        "The extension was compiled for a newer macOS than the one that this Python was built for, "
        "and the wheel's name follows the newer one."
    ),
    fix=(
        "set MACOSX_DEPLOYMENT_TARGET to the version in `python -c 'import sysconfig; "
        "print(sysconfig.get_platform())'` and install again, or use a Python that was built for "
        "this macOS"
    ),
    find=says(
        r"(?P<said>would build wheel with unsupported tag \([^\n]*macosx[^\n]*\))",
    ),
    excerpt="""\
      AssertionError: would build wheel with unsupported tag ('cp311', 'cp311', 'macosx_11_0_x86_64')
""",
    general={"said": "unsupported tag"},
    source="https://github.com/horovod/horovod/issues/4013",
)
