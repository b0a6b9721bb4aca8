"""Writing generated files: none of them where one is there already, unless told, and never half of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.migrate.writing import put


class ExistsError(HvdkitError):
    """A file to be written is there, with other contents."""


def write_files(texts: Mapping[Path, str], force: bool) -> list[Path]:
    """Write what is not there as it should be; returns what was written.

    force: replace files that are there. Raises: ExistsError with nothing written; HvdkitError.
    """
    wanted = {path: text.encode() for path, text in texts.items()}
    different = [path for path, data in wanted.items() if not path.is_file() or path.read_bytes() != data]
    there = [path for path in different if path.exists()]
    if there and not force:
        raise ExistsError(
            "already there: " + ", ".join(str(path) for path in there),
            "what you wrote in them would be lost; nothing was written",
            "--force replaces them; --output deploy writes into a folder of its own",
        )
    for path in different:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HvdkitError(f"{path.parent} cannot be made: {error.strerror}") from error
        put(path, wanted[path])
    return different
