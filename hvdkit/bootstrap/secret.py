"""The job's secret: its members know it, and whoever else reaches the control port does not.

A member proves by HMAC-SHA256 that it knows the secret: over its message and a challenge that every control
port makes anew. The answer is proven in the same way. The secret itself is never sent.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.files import read_file
from hvdkit.shell import word

SECRET = "HVDKIT_SECRET"
SECRET_FILE = "HVDKIT_SECRET_FILE"
OWN_FILE = "~/.config/hvdkit/secret"
SHORTEST = 16  # characters: fewer can be tried out
_LARGEST = 4096
_MAKE = "(umask 077; head -c 32 /dev/urandom | base64 > {file})"


@dataclass(frozen=True)
class Secret:
    """What the members of a job share; empty where there is nothing that a stranger does not know."""

    value: bytes = field(repr=False, default=b"")

    def __bool__(self) -> bool:
        return bool(self.value)

    def proof(self, job: str, *parts: bytes) -> str:
        """What only a member can say about these parts, in hexadecimal digits."""
        key = hmac.new(self.value, job.encode(), hashlib.sha256).digest()
        sizes = b"".join(len(part).to_bytes(8, "big") for part in parts)
        return hmac.new(key, sizes + b"".join(parts), hashlib.sha256).hexdigest()

    def proves(self, proof: str, job: str, *parts: bytes) -> bool:
        """Whether that was said by a member."""
        return hmac.compare_digest(proof.encode("utf-8", "replace"), self.proof(job, *parts).encode())


def own() -> Secret:
    """One that this process makes for itself: where no other one has to know it."""
    return Secret(os.urandom(32))


def of_job(environ: Mapping[str, str]) -> Secret:
    """The secret in the variable, in the file that the other variable names, or in the user's own file.

    Raises: LaunchEnvironmentError: it is too short, or its file cannot be read, or by everybody.
    """
    if environ.get(SECRET):
        return _checked(environ[SECRET].strip().encode("utf-8", "surrogateescape"), SECRET)
    named = environ.get(SECRET_FILE, "")
    # Not Path's own: these two raise where there is no home, or where it may not be looked into.
    file = Path(os.path.expanduser(named or OWN_FILE))  # noqa: PTH111
    if not named and not os.path.isfile(file):  # noqa: PTH113
        return Secret()
    try:
        found = read_file(file, _LARGEST).strip()
        status = file.stat()
    except OSError as error:
        raise LaunchEnvironmentError(
            f"{file}, the file of the job's secret, cannot be read: {error.strerror}",
            why="without it the other nodes of the job turn this one away",
            fix=_MAKE.format(file=file) + ", and copy it to every node",
        ) from None
    if stat.S_IMODE(status.st_mode) & stat.S_IRWXO:
        raise LaunchEnvironmentError(
            f"{file}, the file of the job's secret, is open to every user of this machine",
            why="what everybody can read is no secret",
            fix=f"chmod 600 {word(file)}",
        )
    return _checked(found, str(file))


def _checked(value: bytes, place: str) -> Secret:
    if len(value) < SHORTEST:
        raise LaunchEnvironmentError(
            f"the job's secret in {place} has {len(value)} characters",
            why=f"with fewer than {SHORTEST} it can be guessed",
            fix=_MAKE.format(file=OWN_FILE) + ", and copy it to every node",
        )
    return Secret(value)


def warning(address: str, port: int, who: str, what: str) -> str:
    """The line for a job without a secret: who could reach it, and what closes it."""
    return (
        f"this job has no secret: {who} that reaches {address}:{port} can {what}; "
        f"{SECRET_FILE}=FILE on every host keeps others out (docs/security.md)"
    )
