"""Whether the Horovod that is installed still fits the frameworks that are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import invalidate_caches
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from hvdkit.install import HOROVOD_VERSION
from hvdkit.install.frameworks import Framework

# Horovod's names for the frameworks, in the metadata.json that its build leaves in the package.
_NAMES = {"torch": "pytorch", "tensorflow": "tensorflow"}


def wheel_digest() -> str:
    """SHA-256 of the wheel that Horovod was installed from; empty if there is none, or pip was not told."""
    found = _distribution()
    text = found.read_text("direct_url.json") if found else None
    archive = json.loads(text).get("archive_info", {}) if text else {}
    return str(archive.get("hashes", {}).get("sha256", ""))


def misfits(frameworks: tuple[Framework, ...]) -> tuple[str, ...]:
    """What does not hold, one sentence each; empty: the installed Horovod fits.

    Compared: Horovod's version, the framework versions it was compiled against (its extension is bound to
    exactly these), and whether the extension loads here at all.
    """
    found = _distribution()
    if found is None:
        return ("Horovod is not installed",)
    reasons = []
    if found.version != HOROVOD_VERSION:
        reasons.append(f"Horovod {found.version} is installed, not {HOROVOD_VERSION}")
    built = _built_against(found)
    for framework in frameworks:
        was = built.get(_NAMES[framework.name])
        if was is None:
            reasons.append(
                f"Horovod was built without {framework.name}, and {framework.version} is installed"
            )
        elif was != framework.version:
            reasons.append(
                f"Horovod was built against {framework.name} {was}, and {framework.version} is installed"
            )
    return tuple(reasons) or tuple(_load_errors(frameworks))


def _distribution() -> Distribution | None:
    invalidate_caches()
    try:
        return distribution("horovod")
    except PackageNotFoundError:
        return None


def _built_against(found: Distribution) -> dict[str, str]:
    file = Path(str(found.locate_file("horovod/metadata.json")))
    if not file.is_file():
        return {}
    return {str(name): str(value) for name, value in json.loads(file.read_text(encoding="utf-8")).items()}


def _load_errors(frameworks: tuple[Framework, ...]) -> list[str]:
    errors = []
    for framework in frameworks:
        module = f"horovod.{framework.name}.mpi_ops"
        answer = subprocess.run(
            [sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:
            last = (answer.stderr.strip() or f"exit code {answer.returncode}").splitlines()[-1]
            errors.append(f"`import {module}` fails: {last}")
    return errors
