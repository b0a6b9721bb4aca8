"""Native code could not allocate memory."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="bad_alloc",
    title="native code could not allocate memory{where} (std::bad_alloc)",
    why=(
        "Either the host's memory or a limit is used up, or the size that was requested is not a "
        "real one: at import or in hvd.init() it comes from libraries that were built for different "
        "versions."
    ),
    fix=(
        "after some training: watch `free -g` on that host, and run fewer ranks or DataLoader "
        "workers per host; at the start: hvdkit install-horovod --check, and --rebuild if Horovod "
        "does not fit"
    ),
    find=says(
        r"terminate called after throwing an instance of 'std::bad_alloc'",
        in_job=True,
    ),
    excerpt="""\
terminate called after throwing an instance of 'std::bad_alloc'
""",
    level=Level.OWN,
    source="https://github.com/horovod/horovod/pull/3979",
)
