"""Two containers of the CPU image on two hosts: keys made at start, a job over the image's own ssh server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.hosts import Cluster

from .containers import HOME, Containers
from .images import Store

pytestmark = [pytest.mark.images, pytest.mark.timeout(1800)]

_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
_EXAMPLES = Path(__file__).parents[2] / "examples"
# As many ranks as cores, or more: waiting ranks must not spin.
_CONTROLLERS = {
    "gloo": ["--gloo"],
    "mpi": ["--mpi", "--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1"],
}


@pytest.fixture(scope="module")
def keys(store: Store, image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty volume for the keys of a job."""
    folder = tmp_path_factory.mktemp("keys")
    user = int(store.config(image)["config"]["User"])
    os.chown(folder, user, user)
    return folder


@pytest.fixture(scope="module")
def containers(
    store: Store, image: str, files: Path, digits: Path, keys: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Containers]:
    """Two containers, started at the same time with no keys."""
    with Cluster(tmp_path_factory.mktemp("containers")) as cluster:
        volumes = {_EXAMPLES: "/examples", digits: "/digits", keys: f"{HOME}/.ssh"}
        made = Containers(cluster, files, store.config(image)["config"], volumes)
        made.start()
        yield made


@pytest.fixture
def mounted(store: Store, image: str, files: Path, tmp_path: Path) -> Iterator[Containers]:
    """Two containers with the keys that mpi-operator mounts: its names, root's, and open to everybody."""
    secret = tmp_path / "secret"
    secret.mkdir()
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-f", secret / "id_rsa"], check=True
    )
    shutil.copy(secret / "id_rsa.pub", secret / "authorized_keys")
    for path, mode in ((secret, 0o1777), *((file, 0o644) for file in secret.iterdir())):
        path.chmod(mode)
    with Cluster(tmp_path / "cluster") as cluster:
        made = Containers(cluster, files, store.config(image)["config"], {secret: f"{HOME}/.ssh"})
        made.start()
        yield made


def reach_each_other(containers: Containers) -> None:
    for here, there in (("a", "b"), ("b", "a")):
        asked = [*_SSH, there, "hostname; id -un; command -v python"]
        assert containers.run(here, *asked).stdout == f"{there}\nhvdkit\n/opt/hvdkit/bin/python\n"


def test_the_first_container_makes_the_keys_for_all(containers: Containers, keys: Path) -> None:
    held = sorted(file.name for file in keys.iterdir())
    assert held == ["authorized_keys", "id_ed25519", "id_ed25519.pub", "lock"]
    assert (keys / "id_ed25519").stat().st_mode & 0o777 == 0o600
    assert (keys / "authorized_keys").read_text() == (keys / "id_ed25519.pub").read_text()


def test_containers_reach_each_other_and_ask_nothing(containers: Containers) -> None:
    reach_each_other(containers)


def test_keys_that_are_mounted_are_taken(mounted: Containers) -> None:
    reach_each_other(mounted)


def test_half_a_pair_of_keys_is_refused(containers: Containers) -> None:
    make = "mkdir -p half/.ssh && touch half/.ssh/authorized_keys && HOME=$PWD/half exec hvdkit-sshd"
    answer = containers.run("a", "sh", "-c", make, check=False)
    assert answer.returncode == 2
    assert "holds authorized_keys and neither id_ed25519 nor id_rsa" in answer.stderr


def test_a_host_without_the_key_of_the_job_is_not_trusted(containers: Containers) -> None:
    # The host under the container has an ssh server, too, with a key of its own.
    answer = containers.run("a", *_SSH, "-p", "22", "b", "true", check=False)
    assert answer.returncode == 255
    assert "Host key verification failed" in answer.stderr


@pytest.mark.parametrize("controller", _CONTROLLERS)
def test_the_migrated_example_trains_on_two_hosts(containers: Containers, controller: str) -> None:
    job = ["horovodrun", "-np", "4", "-H", "a:2,b:2", *_CONTROLLERS[controller]]
    script = ["python", "/examples/mnist/train_ddp_horovod.py", "--data", "/digits", "--epochs", "2"]
    output = containers.run("a", *job, *script).stdout
    accuracies = [float(found) for found in re.findall(r"test accuracy ([\d.]+)%", output)]
    assert len(accuracies) == 2, output
    assert accuracies[-1] > 80, output


def test_doctor_finds_nothing_on_the_two(containers: Containers) -> None:
    answer = containers.run("a", "hvdkit", "doctor", "-H", "a:2,b:2", check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
