"""A Python package is not installed."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="module_missing",
    title="the Python package {name} is not installed{where}",
    why=(
        "The ranks run with the Python that horovodrun was given; it is another environment than "
        "yours, or this host lacks the package."
    ),
    fix=(
        "python -m pip install the package that holds {name}, into the Python that the ranks run,"
        " on every host"
    ),
    find=says(
        r"ModuleNotFoundError: No module named '(?P<name>[\w.]+)'",
        in_job=True,
    ),
    excerpt="""\
ModuleNotFoundError: No module named 'albumentations_not_here'
""",
    level=Level.OWN,
)
