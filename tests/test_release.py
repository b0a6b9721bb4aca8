"""The release workflow: GitHub's schema accepts it, and its own checks pass and fail where they should."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import hvdkit
from tests.github_schemas import violations

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
JOBS = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
(AGREES,) = (step["run"] for step in JOBS["build"]["steps"] if step.get("name", "").startswith("The tag"))
VERSION = hvdkit.__version__
HEADING = f"## {VERSION} (2026-12-01)"


def test_the_schema_accepts_it() -> None:
    assert violations("github-workflows", WORKFLOW) == ""


@pytest.mark.parametrize(
    ("tag", "heading", "agrees"),
    [
        (f"v{VERSION}", HEADING, True),
        ("v9.9.9", HEADING, False),
        (f"v{VERSION}", f"## {VERSION} (unreleased)", False),
        (f"v{VERSION}", HEADING.replace(".", "x"), False),
    ],
)
def test_a_release_is_refused_where_its_version_is_not_one(
    tmp_path: Path, tag: str, heading: str, agrees: bool
) -> None:
    (tmp_path / "hvdkit").mkdir()
    shutil.copy(ROOT / "hvdkit" / "__init__.py", tmp_path / "hvdkit")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", AGREES]  # as GitHub starts it
    done = subprocess.run(bash, cwd=tmp_path, env={"TAG": tag, "PATH": "/usr/bin:/bin"}, check=False)
    assert (done.returncode == 0) is agrees


def test_only_the_job_that_publishes_may_write() -> None:
    assert "permissions" not in JOBS["build"]
    assert JOBS["publish"]["needs"] == "build"
    assert not any("checkout" in step.get("uses", "") for step in JOBS["publish"]["steps"])
