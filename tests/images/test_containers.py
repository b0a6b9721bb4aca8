"""Two containers of the CPU image on two hosts: keys made at start, a job over the image's own ssh server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.hosts import Cluster

from .containers import Containers
from .images import Store

pytestmark = [pytest.mark.images, pytest.mark.timeout(1800)]

_EXAMPLES = Path(__file__).parents[2] / "examples"
# As many ranks as cores, or more: waiting ranks must not spin.
_CONTROLLERS = {
    "gloo": ["--gloo"],
    "mpi": ["--mpi", "--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1"],
}


@pytest.fixture(scope="module")
def containers(
    store: Store, image: str, files: Path, digits: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Containers]:
    with Cluster(tmp_path_factory.mktemp("containers")) as cluster:
        volumes = {_EXAMPLES: "/examples", digits: "/digits"}
        made = Containers(cluster, files, store.config(image)["config"], volumes)
        made.start()
        yield made


def test_the_first_container_makes_the_keys_for_all(containers: Containers) -> None:
    held = sorted(file.name for file in containers.keys.iterdir())
    assert held == ["authorized_keys", "id_ed25519", "id_ed25519.pub", "lock"]
    assert (containers.keys / "id_ed25519").stat().st_mode & 0o777 == 0o600
    assert len((containers.keys / "authorized_keys").read_text().splitlines()) == 1


def test_containers_reach_each_other_and_ask_nothing(containers: Containers) -> None:
    for here, there in (("a", "b"), ("b", "a")):
        answer = containers.run(
            here, "ssh", "-o", "BatchMode=yes", there, "hostname; id -un; command -v python"
        )
        assert answer.stdout == f"{there}\nhvdkit\n/opt/hvdkit/bin/python\n"


def test_a_host_without_the_key_of_the_job_is_not_trusted(containers: Containers) -> None:
    # The host under the container has an ssh server, too, with a key of its own.
    answer = containers.run("a", "ssh", "-o", "BatchMode=yes", "-p", "22", "b", "true", check=False)
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
