"""pip could not prepare one Horovod release and tried older ones."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="build_fallback",
    title="pip could not prepare horovod {version} and tried older releases instead",
    why=(
        "pip reads each release's metadata by running its setup.py. Where that fails, it discards "
        "the release and tries the one before, down to 0.9.0 of 2017, which no current Python can "
        "build: the last error in the log is about that old release."
    ),
    fix=(
        "read the error of the newest release, the first in the log: pip install --no-cache-dir "
        "horovod==0.28.1; or hvdkit install-horovod, which builds that release alone"
    ),
    find=says(
        r"Discarding \S*/horovod-(?P<version>\d[\d.]*)\.tar\.gz",
    ),
    excerpt="""\
WARNING: Discarding https://files.pythonhosted.org/packages/aa/horovod-0.21.3.tar.gz (from https ...
""",
    level=Level.OWN,
    general={"version": "VERSION"},
    source="https://github.com/horovod/horovod/issues/1393",
)
