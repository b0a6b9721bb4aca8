"""What is to be put into an image and run: plain data that every generated file is made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hvdkit.errors import UsageError
from hvdkit.printable import counted

HOME = PurePosixPath("/home/hvdkit")
PROJECT = HOME / "project"
KEYS = HOME / ".ssh"  # where hvdkit-sshd and ssh look for the job's pair of keys
SSH_PORT = 2222

# https://pkg.go.dev/github.com/distribution/reference: [host[:port]/]path[:tag]
_IMAGE = re.compile(
    r"([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
)
# Kubernetes puts "-launcher" and more behind it, and a label has 63 characters.
_NAME_LENGTH = 40


@dataclass(frozen=True)
class Job:
    """One project's job. context: the project's folder, absolute. folder: where the files go, inside it.

    command: what each rank runs, in PROJECT. ranks: the world size. containers: that share the ranks evenly.
    notebook: the notebook and the program that is made of it in the image, or None.
    paths: folders of the project, relative, that Python has to import from besides the script's own.
    requirements: something has to be installed besides what the image underneath holds.
    secrets: variables that the build needs for that. withheld: files with credentials, relative to context.
    """

    context: Path
    folder: Path
    name: str
    image: str
    command: tuple[str, ...]
    ranks: int
    containers: int
    gpu: bool
    tensorflow: bool
    requirements: bool
    notebook: tuple[str, str] | None = None
    paths: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def slots(self) -> int:
        """Ranks in each container."""
        return self.ranks // self.containers

    @property
    def target(self) -> str:
        """The stage of docker/Dockerfile that the image stands on."""
        return "cuda" if self.gpu else "cpu"

    @property
    def base(self) -> str:
        """The name of the image underneath."""
        return f"hvdkit:{self.target}" + ("-tensorflow" if self.tensorflow else "")

    @property
    def build_base(self) -> str:
        """The command that makes the image underneath, in a checkout of hvdkit."""
        argument = " --build-arg TENSORFLOW=1" if self.tensorflow else ""
        return f"docker build -f docker/Dockerfile --target {self.target}{argument} -t {self.base} ."

    def in_context(self, name: str) -> str:
        """A generated file's path as the Dockerfile and the commands in the project name it."""
        return (self.folder / name).relative_to(self.context).as_posix()


def name_of(folder: Path) -> str:
    """A name that images, Compose and Kubernetes all take, from a folder's."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.name.lower())[:_NAME_LENGTH].strip("-")
    # Kubernetes makes host names of it, which start with a letter.
    return name if name[:1].isalpha() else f"job-{name}".strip("-")


def check_image(name: str) -> str:
    """The name. Raises: UsageError if no image can have it."""
    if not _IMAGE.fullmatch(name):
        raise UsageError(
            f"--image {name}: not the name of an image",
            "docker build and Kubernetes would refuse it",
            "lower case, as in registry.example.org/team/train:1",
        )
    return name


def check_ranks(ranks: int, containers: int) -> None:
    """Raises: UsageError if the ranks cannot be shared evenly among the containers."""
    if ranks < 1 or containers < 1 or ranks % containers:
        raise UsageError(
            f"-np {ranks} on {counted(containers, 'container')}",
            "every container runs the same number of ranks: slotsPerWorker is one number for all",
            f"-np {max(containers, 1) * max(1, ranks // max(containers, 1))}",
        )
