"""The job's secret: where it is looked for, what is none, and that it is never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hvdkit.bootstrap.errors import LaunchEnvironmentError
from hvdkit.bootstrap.secret import Secret, of_job, own

LONG = "0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def file(path: Path, text: str = LONG, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_variable_then_the_named_file_then_the_users_own(home: Path) -> None:
    assert of_job({}) == Secret()
    file(home / ".config" / "hvdkit" / "secret", "of the user, long enough\n")
    named = file(home / "named", "of the job, long enough\n", 0o640)
    assert of_job({}).value == b"of the user, long enough"
    assert of_job({"HVDKIT_SECRET_FILE": str(named)}).value == b"of the job, long enough"
    both = {"HVDKIT_SECRET": LONG, "HVDKIT_SECRET_FILE": str(named)}
    assert of_job(both).value == LONG.encode()


def test_what_is_no_secret_is_refused(home: Path) -> None:
    with pytest.raises(LaunchEnvironmentError, match="in HVDKIT_SECRET has 5 characters"):
        of_job({"HVDKIT_SECRET": "short"})
    for path, seen in (
        (home / "none", "No such file"),
        (file(home / "empty", ""), "has 0 characters"),
        (file(home / "open", mode=0o644), "is open to every user"),
        (file(home / "large", "x" * 5000), "it is 5000 bytes"),
    ):
        with pytest.raises(LaunchEnvironmentError, match=seen):
            of_job({"HVDKIT_SECRET_FILE": str(path)})
    os.mkfifo(home / "fifo")
    with pytest.raises(LaunchEnvironmentError, match="it is a FIFO"):
        of_job({"HVDKIT_SECRET_FILE": str(home / "fifo")})


def test_it_is_not_shown() -> None:
    assert LONG not in repr(Secret(LONG.encode()))


def test_a_proof_is_of_one_secret_one_job_and_these_parts() -> None:
    secret = own()
    proof = secret.proof("job", b"a", b"bc")
    assert secret.proves(proof, "job", b"a", b"bc")
    assert not secret.proves(proof, "job", b"ab", b"c")
    assert not secret.proves(proof, "other", b"a", b"bc")
    assert not own().proves(proof, "job", b"a", b"bc")
    assert not secret.proves("", "job", b"a", b"bc")
    assert not secret.proves("\u00e9", "job", b"a", b"bc")
