"""Images made and opened by buildah, in a storage of their own: no daemon, nothing pulled. Needs root.

The base image is Debian as mmdebstrap makes it, under the name that docker/Dockerfile asks for.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASE = "docker.io/library/debian:bookworm-slim"
# What Debian's slim images leave out, so that a build that needs it fails here as it does there.
_NOT_IN_SLIM = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")
# How dpkg and apt are set in Debian's images: nothing waits for the disk, no package file is kept. The latter
# comes by a hook, since mmdebstrap itself needs what it downloads.
_KEEP_NONE = 'APT::Keep-Downloaded-Packages "false";'
_SETTINGS = (
    "--dpkgopt=force-unsafe-io",
    '--aptopt=Acquire::Languages "none"',
    f"--customize-hook=echo '{_KEEP_NONE}' > \"$1/etc/apt/apt.conf.d/docker-clean\"",
)


@dataclass(frozen=True)
class Store:
    """A folder with images and containers."""

    folder: Path

    def buildah(self, *arguments: str | Path, timeout: float = 120) -> str:
        """What a buildah command prints. Raises: AssertionError with all of its output."""
        places = ["--root", self.folder / "root", "--runroot", self.folder / "run"]
        # Overlays, as an engine has: with vfs each image and each container is a copy of all its files.
        command = ["buildah", *places, "--storage-driver", "overlay", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def make_base(self) -> None:
        """Debian under the name that a Dockerfile asks for."""
        archive = self.folder / "base.tar"
        left_out = [f"--dpkgopt=path-exclude={pattern}" for pattern in _NOT_IN_SLIM]
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", *_SETTINGS, *left_out, "bookworm", archive],
            check=True,
        )
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", "--quiet", container, archive, "/")
        self.buildah("commit", "--quiet", "--rm", container, BASE)
        archive.unlink()

    def build(self, context: Path, dockerfile: Path, *options: str, image: str) -> None:
        """Build `image`.

        Format docker: OCI's has no HEALTHCHECK. This machine's hostname: an engine writes a container's into
        its /etc/hosts, chroot isolation does not, and Gloo looks itself up there.
        """
        kind = [
            "--isolation=chroot",
            "--format=docker",
            "--pull-never",
            f"--file={dockerfile}",
            f"--tag={image}",
        ]
        name = ["--uts=host", f"--add-host={socket.gethostname()}:127.0.0.1"]
        self.buildah("build", *kind, *name, *options, context, timeout=1500)

    def config(self, image: str) -> dict[str, Any]:
        """The image's configuration and history, as docker writes them."""
        return dict(json.loads(self.buildah("inspect", "--type=image", image))["Docker"])

    def layers(self, image: str, folder: Path) -> list[Path]:
        """The image's layers as tar archives in `folder`, the lowest first."""
        self.buildah("push", "--quiet", "--disable-compression", image, f"dir:{folder}", timeout=300)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return [folder / layer["digest"].partition(":")[2] for layer in manifest["layers"]]

    @contextlib.contextmanager
    def container(self, image: str) -> Iterator[str]:
        """A container's name; `files` opens its file system and `run` starts a command in it."""
        name = self.buildah("from", "--pull-never", "--uts=host", image).strip()
        try:
            yield name
        finally:
            self.buildah("rm", name)

    def files(self, container: str) -> Path:
        """The root of a container's file system."""
        return Path(self.buildah("mount", container).strip())

    def run(self, container: str, *command: str, options: tuple[str, ...] = (), timeout: float = 300) -> str:
        """What a command prints that runs as the image says: its user, folder and variables."""
        return self.buildah("run", "--isolation=chroot", *options, container, "--", *command, timeout=timeout)
