"""What of a project is never copied: into an image, or into a file that hvdkit writes."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path

# In any folder. Not part of a program, or not for everybody who gets the image.
LEFT_OUT = (
    ".git",
    ".hg",
    ".svn",
    ".hvdkit",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "node_modules",
    "__pycache__",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".env",
    ".env.*",
    ".envrc",
    ".netrc",
    ".pypirc",
    "pip.conf",
    ".npmrc",
    ".git-credentials",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/hvdkit",
    ".docker",
    ".kaggle",
    ".kube",
    ".ssh",
    "*.key",
    "*.pem",
    "*.p12",
    "*.pfx",
    "*credentials*.json",
    "*service*account*.json",
    "id_ecdsa*",
    "id_ed25519*",
    "id_rsa*",
)


def is_left_out(path: Path, context: Path) -> bool:
    """Whether a file of the project, as it is named or with links followed, is or is in one of these."""
    real = os.path.relpath(os.path.realpath(path), os.path.realpath(context))
    return any(
        fnmatch("/".join(parts[start : start + 1 + pattern.count("/")]), pattern)
        for parts in (Path(os.path.relpath(path, context)).parts, Path(real).parts)
        for pattern in LEFT_OUT
        for start in range(len(parts))
    )
