"""The script is not there."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="script_missing",
    title="Python does not find {path}{where}",
    why=(
        "horovodrun starts each rank in the folder that it was started in; on another host the "
        "file has to lie at the same path."
    ),
    fix="check the path, and copy or mount the project to the same place on every host",
    find=says(
        r"can't open file '(?P<path>[^']+)': \[Errno 2\]",
        in_job=True,
    ),
    excerpt="""\
/opt/venv/bin/python: can't open file '/proj/src/train.py': [Errno 2] No such file or directory
""",
    general={"path": "the script"},
)
