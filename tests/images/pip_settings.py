"""This machine's pip settings inside a build: where its packages come from, and whom it trusts.

A build sees nothing of the machine that runs it. Behind a mirror it needs what pip has here, and none of it
may stay in the image: so it is mounted, and only while the build runs.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

_IN_BUILD = Path("/etc/xdg/pip")
_PLACES = ("index-url", "extra-index-url", "find-links", "trusted-host", "proxy", "cert", "default-timeout")


def options(folder: Path) -> list[str]:
    """Options of `buildah build`. folder: an empty or new one, for what is mounted."""
    found = _settings()
    folder.mkdir(exist_ok=True)
    mounts = {folder: _IN_BUILD}
    if "cert" in found:
        # A copy: the build writes its own system's certificates to where this machine's may lie, too.
        shutil.copy(found["cert"], folder / "ca.crt")
        found["cert"] = str(_IN_BUILD / "ca.crt")
    for name in ("index-url", "extra-index-url", "find-links"):
        places = [urlparse(place) for place in found.get(name, "").split()]
        local = [Path(place.path) for place in places if place.scheme in ("", "file")]
        # The pages of an index point to files that lie beside it.
        folders = local if name == "find-links" else [place.parent for place in local]
        mounts.update({place: place for place in folders})
    lines = [f"{name} = {value}" for name, value in found.items()]
    (folder / "pip.conf").write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
    asked = [f"--volume={source}:{target}:ro" for source, target in mounts.items()]
    # The Dockerfile names PyTorch's own index; a machine that names another has PyTorch from there.
    extra = found.get("extra-index-url")
    return [*asked, f"--build-arg=PIP_EXTRA_INDEX_URL={extra}"] if extra else asked


def _settings() -> dict[str, str]:
    """pip's settings by option: those of its files, and over them those of the environment, as pip does."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    pairs = [line.partition("=") for line in listed.splitlines()]
    rows = [(key, str(ast.literal_eval(value))) for key, _, value in pairs]
    rows.sort(key=lambda row: row[0].startswith(":env:"))
    found = {key.removeprefix(":env:").rpartition(".")[2]: " ".join(value.split()) for key, value in rows}
    return {name: found[name] for name in _PLACES if name in found}
