"""What a job is given of the environment, and what stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.errors import UsageError
from hvdkit.hosts.environment import check_timeline, passed

HERE = {
    "PATH": "/bin",
    "HOROVOD_TIMELINE": "t.json",
    "NCCL_DEBUG": "INFO",
    "OMP_NUM_THREADS": "2",
    "AWS_SECRET_ACCESS_KEY": "s3cret",
    "http_proxy": "http://user:password@proxy",
    "HOROVOD_RANK": "3",
    "HOROVOD_GLOO_RENDEZVOUS_PORT": "1234",
    "OMPI_COMM_WORLD_RANK": "3",
    "_HOROVOD_SECRET_KEY": "k",
}


def test_needed_and_nothing_else() -> None:
    assert set(passed(HERE)) == {"PATH", "HOROVOD_TIMELINE", "NCCL_DEBUG", "OMP_NUM_THREADS"}


def test_named() -> None:
    assert passed(HERE, ["AWS_SECRET_ACCESS_KEY", "MODE=a b"]).items() >= {
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("MODE", "a b"),
    }


@pytest.mark.parametrize("entry", ["NOT_SET", "1A=2", "A;B=1", "", "=x", "A B"])
def test_a_bad_name_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match="-x"):
        passed(HERE, [entry])


def test_the_secret_of_jobs_is_on_no_command_line() -> None:
    """horovodrun writes what it is given onto that of every rank."""
    given = passed({"HVDKIT_SECRET": "what only members know", "HVDKIT_SECRET_FILE": "/home/me/secret"})
    assert given == {"HVDKIT_SECRET_FILE": "/home/me/secret"}


@pytest.mark.parametrize("name", [".", "missing/timeline.json"])
def test_a_timeline_that_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    """Horovod trains on, and records nothing."""
    with pytest.raises(UsageError) as refused:
        check_timeline({"HOROVOD_TIMELINE": str(tmp_path / name)})
    assert refused.value.fix.startswith("HOROVOD_TIMELINE=")


@pytest.mark.parametrize("value", ["", "DYNAMIC", "timeline.json"])
def test_other_timelines_are_not(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_timeline({"HOROVOD_TIMELINE": value})
