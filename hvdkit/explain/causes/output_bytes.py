"""horovodrun cannot decode what a rank prints."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="output_bytes",
    title="horovodrun stopped reading a rank's output, which is not UTF-8",
    why=(
        "horovodrun decodes each rank's output as UTF-8 in a thread of its own. Bytes that are not "
        "UTF-8 end that thread, and a rank blocks when its pipe is full."
    ),
    fix=(
        "export PYTHONIOENCODING=utf-8 LC_ALL=C.UTF-8 on all ranks, and print no raw bytes; "
        "horovodrun --output-filename FOLDER, or hvdkit run, which replaces such bytes"
    ),
    find=says(
        r"safe_shell_exec\.py[^\n]*, in prefix_\w+\n(?:[ ][^\n]*\n)*?UnicodeDecodeError: ",
    ),
    excerpt="""\
UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8a in position 91: invalid start byte
""",
    source="https://github.com/horovod/horovod/issues/3670",
)
