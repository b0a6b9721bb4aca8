"""Containers of an image on the hosts of a cluster: what a container engine does, from namespaces and mounts.

Each has a root file system, network, hostname, processes and /dev/shm of its own; they share their volumes.
A command runs as the image says: its user, its folder, its variables, and nothing else.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.cluster.hosts import Cluster

HOME = "/home/hvdkit"


class Containers:
    """One container on each host of `cluster`.

    root: the image's files, only read. config: its configuration. volumes: folder of this machine to path in
    every container.
    """

    def __init__(
        self, cluster: Cluster, root: Path, config: dict[str, Any], volumes: dict[Path, str]
    ) -> None:
        self.cluster = cluster
        self.config = config
        for name in cluster.names:
            self._mount(name, root, volumes)

    def command(self, name: str, *words: str) -> list[str]:
        """`words` as the container `name` runs them, for `Cluster.run` and its like."""
        user = self.config["User"]
        variables = [f"HOME={HOME}", "OMP_NUM_THREADS=1", *self.config["Env"]]
        inside = ["/usr/bin/env", "-i", "-C", self.config["WorkingDir"], *variables, *words]
        return ["chroot", f"--userspec={user}:{user}", str(self._root(name)), *inside]

    def run(self, name: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command to its end. Raises: AssertionError, as `Cluster.run`."""
        return self.cluster.run(name, self.command(name, *words), timeout=180, check=check)

    def start(self) -> None:
        """Start what the image starts by itself in every container, and wait until its port answers."""
        for name in self.cluster.names:
            self.cluster.service(name, self.command(name, *self.config["Cmd"]))
        for name in self.cluster.names:
            listening = f"exec 3<> /dev/tcp/{self.cluster.address(name)}/2222"
            self.cluster.run(
                name,
                ["bash", "-c", f"for _ in {{1..200}}; do ({listening}) && exit; sleep 0.05; done; exit 1"],
            )

    def _root(self, name: str) -> Path:
        return self.cluster.directory / f"container-{name}" / "root"

    def _mount(self, name: str, image: Path, volumes: dict[Path, str]) -> None:
        """Give a host the container's files. Its mounts end with its namespace."""
        root = self._root(name)
        parts = {part: root.parent / part for part in ("upper", "work")}
        for folder in (root, *parts.values()):
            folder.mkdir(parents=True)
        layers = f"lowerdir={image},upperdir={parts['upper']},workdir={parts['work']}"
        mounts = [
            ["-t", "overlay", "-o", layers, "overlay", root],
            ["-t", "proc", "proc", root / "proc"],
            ["--rbind", "/dev", root / "dev"],
            ["-t", "tmpfs", "-o", "size=1g,mode=1777", "tmpfs", root / "dev/shm"],
            ["--bind", "/etc/hosts", root / "etc/hosts"],
        ]
        for words in mounts:
            self.cluster.run(name, ["mount", *map(str, words)])
        for folder, path in volumes.items():
            # Made through the overlay, so that the folders above keep their owners.
            self.cluster.run(name, ["mkdir", "-p", f"{root}{path}"])
            self.cluster.run(name, ["mount", "--bind", str(folder), f"{root}{path}"])
