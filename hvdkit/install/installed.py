"""Whether the Horovod that is installed still fits the frameworks that are installed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import invalidate_caches
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from hvdkit import interpreter
from hvdkit.install import HOROVOD_VERSION
from hvdkit.install.frameworks import Framework

# Horovod's names for the frameworks, in the metadata.json that its build leaves in the package.
_NAMES = {"torch": "pytorch", "tensorflow": "tensorflow"}


@dataclass(frozen=True)
class Found:
    """An installed Horovod. built_against: framework versions, by Horovod's own names for them."""

    version: str
    built_against: Mapping[str, str]


def wheel_digest() -> str:
    """SHA-256 of the wheel that Horovod was installed from; empty if there is none, or pip was not told."""
    there = _distribution()
    text = there.read_text("direct_url.json") if there else None
    archive = json.loads(text).get("archive_info", {}) if text else {}
    return str(archive.get("hashes", {}).get("sha256", ""))


def misfits(frameworks: tuple[Framework, ...]) -> tuple[str, ...]:
    """What does not hold, one sentence each; empty: the installed Horovod fits.

    Compared: Horovod's version, the framework versions it was compiled against (its extension is bound to
    exactly these), and whether the extension loads here at all.
    """
    horovod = found()
    if horovod is None:
        return ("Horovod is not installed",)
    versions = {framework.name: framework.version for framework in frameworks}
    return disagreements(horovod, versions) or tuple(_load_errors(frameworks))


def found() -> Found | None:
    """The Horovod that is installed here, read without importing it."""
    there = _distribution()
    return Found(there.version, _built_against(there)) if there else None


def disagreements(horovod: Found, versions: Mapping[str, str]) -> tuple[str, ...]:
    """Where Horovod is not the one that fits frameworks of these versions, one sentence each."""
    reasons = []
    if horovod.version != HOROVOD_VERSION:
        reasons.append(f"Horovod {horovod.version} is installed, not {HOROVOD_VERSION}")
    for name, version in versions.items():
        was = horovod.built_against.get(_NAMES[name])
        if was is None:
            reasons.append(f"Horovod was built without {name}, and {version} is installed")
        elif was != version:
            reasons.append(f"Horovod was built against {name} {was}, and {version} is installed")
    return tuple(reasons)


def _distribution() -> Distribution | None:
    invalidate_caches()
    try:
        return distribution("horovod")
    except PackageNotFoundError:
        return None


def _built_against(horovod: Distribution) -> dict[str, str]:
    file = Path(str(horovod.locate_file("horovod/metadata.json")))
    if not file.is_file():
        return {}
    return {str(name): str(value) for name, value in json.loads(file.read_text(encoding="utf-8")).items()}


def _load_errors(frameworks: tuple[Framework, ...]) -> list[str]:
    errors = []
    for framework in frameworks:
        module = f"horovod.{framework.name}.mpi_ops"
        answer = subprocess.run(
            interpreter.code(f"import {module}"), capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:
            last = (answer.stderr.strip() or f"exit code {answer.returncode}").splitlines()[-1]
            errors.append(f"`import {module}` fails: {last}")
    return errors
