"""Writing generated files: none of them where one is there already, unless told, and never half of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.files import replace_file
from hvdkit.migrate.write.reports import make_folder, to_write


def write_files(texts: Mapping[Path, str], context: Path, force: bool) -> list[Path]:
    """Write what is not there as it should be; returns what was written. context: the project's folder.

    force: replace files that are there. Raises: ExistsError, OutsideTree with nothing written; HvdkitError.
    """
    wanted = {path: text.encode() for path, text in texts.items()}
    different = to_write(wanted, context, force, "--output deploy writes to a separate folder")
    for path, data in different.items():
        make_folder(path.parent)
        try:
            replace_file(path, data)
        except OSError as error:
            raise HvdkitError(f"{path} cannot be written: {error.strerror}") from error
    return list(different)
