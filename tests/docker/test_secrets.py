"""No credential of a requirement is printed, written or copied into an image."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from hvdkit.cli import main
from tests.files import write_files
from tests.images.lint import lint

SCRIPT = "import horovod.torch as hvd\n\nhvd.init()\n"


def generate(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What `hvdkit docker` writes for these files."""
    write_files(folder, {"train.py": SCRIPT, **files}.items())
    monkeypatch.chdir(folder)
    assert main(["docker", "train.py", "--json=found.json"]) == 0
    return {
        path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name not in files
    }


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"requirements.txt": "--extra-index-url https://me:s3cret@h/simple\nx\n"}, ["requirements.txt"]),
        ({"requirements.txt": "# https://me:s3cret@h/simple\nx\n"}, ["requirements.txt"]),
        ({"sub/requirements-dev.txt": "x @ https://me:s3cret@h/x\n"}, ["sub/requirements-dev.txt"]),
        ({"ci/Dockerfile": "RUN pip install https://s3cret@h/x\n"}, ["ci/Dockerfile"]),
        ({".gitmodules": "\turl = https://s3cret@h/x\n"}, [".gitmodules"]),
        ({"requirements.txt": "torch @ https://me:s3cret@h/torch.whl\n"}, ["requirements.txt"]),
        ({"requirements.txt": "x @ https://h/x.whl?token=s3cret\n"}, ["requirements.txt"]),
        ({"requirements.txt": "-r b.txt\n", "b.txt": "--index-url https://me:s3cret@h\n"}, ["b.txt"]),
        (
            {"pyproject.toml": "[project]\nname='x'\ndependencies=['x @ git+https://s3cret@h/x']\n"},
            ["pyproject.toml"],
        ),
    ],
)
def test_no_credential_is_printed_written_or_copied(
    files: dict[str, str],
    names: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written = generate(tmp_path, files, monkeypatch)
    assert "s3cret" not in capsys.readouterr().out + "".join(written.values())
    assert set(names) <= set(written[".dockerignore"].splitlines())


def test_the_build_gets_them_as_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One for each credential, under a name of its own or the one that the file gives."""
    lines = (
        "--index-url https://me:s3cret@h/a\n--extra-index-url \\\n https://me:s3cret@h/b\n"
        "x @ https://h/x?token=${TOKEN}\n"
    )
    written = generate(tmp_path, {"requirements.txt": lines}, monkeypatch)
    assert written["docker-requirements.txt"].splitlines()[2:] == [
        "--index-url https://${REQUIREMENTS_SECRET_1}@h/a",
        "--extra-index-url https://${REQUIREMENTS_SECRET_1}@h/b",
        "x @ https://h/x?token=${TOKEN}",
    ]
    for name in ("REQUIREMENTS_SECRET_1", "TOKEN"):
        assert f"--mount=type=secret,id={name},required=true" in written["Dockerfile"]
        assert f"--secret id={name},env={name}" in written["Dockerfile"]
    compose = yaml.safe_load(written["compose.yaml"])
    assert compose["services"]["launcher"]["build"]["secrets"] == ["REQUIREMENTS_SECRET_1", "TOKEN"]
    assert compose["secrets"]["TOKEN"] == {"environment": "TOKEN"}
    assert lint(tmp_path / "Dockerfile") == ""
    found = json.loads(written["found.json"])["requirements"]["secrets"]
    assert [(secret["variable"], secret["line"]) for secret in found] == [
        ("REQUIREMENTS_SECRET_1", 1),
        ("TOKEN", 4),
    ]
    assert "requirements.txt:1: a password or token" in capsys.readouterr().out


def test_without_credentials_there_is_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = generate(tmp_path, {"requirements.txt": "git+ssh://git@h/x.git\n"}, monkeypatch)
    assert "secret" not in written["Dockerfile"] + written["compose.yaml"]
    assert "requirements.txt" not in written[".dockerignore"].splitlines()


def test_what_holds_credentials_by_its_name_stays_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the docs of what writes these files name them, wherever they lie."""
    lines = generate(tmp_path, {}, monkeypatch)[".dockerignore"].splitlines()
    for name in (
        ".env",
        ".env.local",
        ".netrc",
        ".pypirc",
        ".npmrc",
        ".git-credentials",
        "id_ed25519",
        "x.pem",
    ):
        assert any(fnmatch(f"deep/{name}", line.replace("**/", "*/")) for line in lines), name
    for folder in (".git", ".hvdkit", ".ssh", ".aws", ".kube", ".docker", ".kaggle", ".venv"):
        assert f"**/{folder}" in lines
