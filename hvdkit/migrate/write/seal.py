"""The seal of a record: whether hvdkit wrote it, for this user on this machine.

A record is in the project, and a project may come with one that somebody else wrote. The key of the seals is
in the user's own folder of states, and no project has it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import hmac
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from hvdkit.errors import HvdkitError

_BYTES = 32
_KEYS = {"files", "seal"}


class KeyFileError(HvdkitError):
    """The key of the seals cannot be read or made."""


class NotSealed(ValueError):
    """A text that hvdkit did not write here. The argument says what was seen."""


def sealed(files: list[dict[str, Any]]) -> bytes:
    """The text of a record of these files. Raises: KeyFileError."""
    return json.dumps({"seal": _seal(files, _key()), "files": files}, indent=1).encode()


def opened(text: bytes) -> Any:
    """The files of a record, as they were sealed.

    Raises: NotSealed; KeyFileError; ValueError, RecursionError where it is no JSON.
    """
    record = json.loads(text)
    if isinstance(record, list):
        raise NotSealed("it has no seal: an earlier hvdkit wrote it, or it came with the project")
    if not isinstance(record, dict) or record.keys() != _KEYS or not isinstance(record["seal"], str):
        raise NotSealed(f"it does not have the keys {', '.join(sorted(_KEYS))}")
    expected = _seal(record["files"], _key())
    if not hmac.compare_digest(record["seal"].encode("utf-8", "replace"), expected.encode()):
        raise NotSealed("its seal is not yours: it came with the project, or from another user or machine")
    return record["files"]


def _seal(files: Any, key: bytes) -> str:
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, b"hvdkit undo\0" + text.encode(), hashlib.sha256).hexdigest()


def _place() -> Path:
    """$XDG_STATE_HOME/hvdkit, else ~/.local/state/hvdkit; a relative one would be in the project."""
    named = os.environ.get("XDG_STATE_HOME", "")
    # Not Path's own, which raises where there is no home.
    base = named if os.path.isabs(named) else os.path.expanduser("~/.local/state")  # noqa: PTH111, PTH117
    return Path(base, "hvdkit", "undo-key")


def _key() -> bytes:
    """The key, made where there is none yet. Two runs that make it at once get the same."""
    file = _place()
    try:
        if not file.is_absolute():
            raise OSError(errno.ENOENT, "there is no home folder")
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        try:
            return _of(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise KeyFileError(
            f"{file} cannot be used: {error.strerror}",
            "its key seals the records of --undo, so that a record of somebody else is known; "
            "nothing was written",
            "XDG_STATE_HOME=FOLDER hvdkit ... with a folder of yours that can be written",
        ) from error


def _of(handle: int) -> bytes:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with suppress(OSError):  # a file system without locks: two first runs at once may differ there
        fcntl.flock(handle, fcntl.LOCK_EX)
    key = os.read(handle, _BYTES)
    if len(key) < _BYTES:  # new, or its first run was killed before it sealed anything
        key = os.urandom(_BYTES)
        os.pwrite(handle, key, 0)
        os.fsync(handle)
    return key
