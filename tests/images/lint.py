"""hadolint, the linter for Dockerfiles, for every test that looks at one."""

from __future__ import annotations

import subprocess
from pathlib import Path


def lint(dockerfile: Path) -> str:
    """What hadolint finds, of any severity; empty if nothing."""
    done = subprocess.run(["hadolint", "--no-color", dockerfile], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr
