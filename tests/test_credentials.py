"""Credentials in addresses are found, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from hvdkit.console import show_line, show_source
from hvdkit.credentials import masked
from hvdkit.errors import HvdkitError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--index-url https://me:s3cret@host/simple", "--index-url https://****@host/simple"),
        ("pkg @ git+https://ghp_s3cret@github.com/a/b@main", "pkg @ git+https://****@github.com/a/b@main"),
        ("https://me:p@s3cret@host:8080/x", "https://****@host:8080/x"),
        ("git+ssh://git:s3cret@host/x", "git+ssh://git:****@host/x"),
        ("https://h/x.whl?a=1&private_token=s3cret&b=2", "https://h/x.whl?a=1&private_token=****&b=2"),
        ("https://h/x?X-Amz-Signature=s3cret, y", "https://h/x?X-Amz-Signature=****, y"),
        ("HTTPS://me:s3cret@H 'http://t0ken:s3cret@p/'", "HTTPS://****@H 'http://****@p/'"),
    ],
)
def test_what_opens_an_address_is_masked(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://${TOKEN}@host/simple",
        "https://me:${TOKEN}@host/simple",
        "https://h/x?token=${TOKEN}, y",
        "git+ssh://git@github.com/a/b.git",
        "ssh://me@host:22/x",
        "https://host/@scope/package",
        "me@example.org",
        "https://h/x?page=2",
    ],
)
def test_what_opens_nothing_is_shown(text: str) -> None:
    assert masked(text) == text


def test_no_output_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    show_line(("--index-url https://me:s3cret@host", "yellow"))
    told = capsys.readouterr().out + str(HvdkitError("https://me:s3cret@host cannot be read", fix="pip"))
    assert "s3cret" not in told and told.count("****@host") == 2


def test_a_diff_of_a_file_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    show_source("-url = 'https://me:s3cret@host'", "")
    assert capsys.readouterr().out == "-url = 'https://me:s3cret@host'\n"
