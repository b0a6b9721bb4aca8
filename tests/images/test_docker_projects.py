"""`hvdkit docker`'s files at work: three kinds of project on the CPU image, and compose.yaml's commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.hosts import Cluster
from tests.docker.golden import generated

from . import pip_settings
from .containers import Containers
from .images import Store

pytestmark = [pytest.mark.images, pytest.mark.timeout(1800)]


@dataclass(frozen=True)
class Script:
    """An image's files and configuration, and the text of each file that was written for it."""

    root: Path
    config: dict[str, Any]
    texts: dict[str, str]


def build(store: Store, image: str, project: str, folder: Path) -> tuple[str, dict[str, str]]:
    """The image of a project, and the files that it was built by."""
    with generated(project, folder) as (code, texts):
        assert code == 0
        (Path.cwd() / ".env").write_text("PASSWORD=secret\n", encoding="utf-8")
        dockerfile = next(path for path in texts if path.endswith("Dockerfile"))
        name = f"localhost/{project}:test"
        settings = pip_settings.options(store.folder / "pip")
        store.build(Path.cwd(), Path.cwd() / dockerfile, f"--build-arg=BASE={image}", *settings, image=name)
    return name, {Path(path).name: text for path, text in texts.items()}


def words(service: dict[str, Any]) -> list[str]:
    """A service's command as Compose starts it."""
    return [word.replace("$$", "$") for word in service["command"]]


def volume(service: dict[str, Any]) -> str:
    """Where a service has the volume of the keys."""
    (mounted,) = service["volumes"]
    return str(mounted.removeprefix("keys:"))


@pytest.mark.parametrize("project", ["notebook", "package"])
def test_a_project_runs_in_its_image(
    store: Store, image: str, container: str, project: str, tmp_path: Path
) -> None:
    name, texts = build(store, image, project, tmp_path)
    command = words(yaml.safe_load(texts["compose.yaml"])["services"]["launcher"])
    script = command[command.index("python") :]
    with store.container(name) as own:
        output = store.run(own, "horovodrun", "-np", "2", *script, options=("--env=OMP_NUM_THREADS=1",))
        assert "2 ranks on 1 hosts, equal: True" in output
        if project == "notebook":
            held = store.run(own, "ls", "-A").split()
            assert held == [".dockerignore", "train.ipynb", "train.py"], "the folder, and what was made of it"
        assert frameworks(store, own) == frameworks(store, container), "what Horovod was compiled for"


def frameworks(store: Store, container: str) -> list[str]:
    """What is not to change, with its versions."""
    installed = store.run(
        container, "pip", "list", "--format", "freeze", "--disable-pip-version-check"
    ).splitlines()
    return [
        line for line in installed if line.startswith(("torch==", "horovod==", "hvdkit==", "setuptools=="))
    ]


@pytest.fixture(scope="module")
def script(store: Store, image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    """The script's image, opened, and what its files say."""
    name, texts = build(store, image, "script", tmp_path_factory.mktemp("project"))
    with store.container(name) as container:
        yield Script(store.files(container), store.config(name)["config"], texts)


def test_compose_starts_the_job(script: Script, tmp_path: Path) -> None:
    services = yaml.safe_load(script.texts["compose.yaml"])["services"]
    launcher = services["launcher"]
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    os.chown(keys, *(int(script.config["User"]),) * 2)
    with Cluster(tmp_path / "services", list(services)) as cluster:
        containers = Containers(cluster, script.root, script.config, {keys: volume(launcher)})
        for name in launcher["depends_on"]:
            cluster.service(name, containers.command(name, *words(services[name])))
        for name in launcher["depends_on"]:
            check = services[name]["healthcheck"]
            until_ready(containers, name, check["test"][1:], check["retries"])
        output = containers.run("launcher", *words(launcher)).stdout
    assert "4 ranks on 2 hosts, equal: True" in output


def test_the_mpijob_runs_with_what_the_operator_gives_its_pods(script: Script, tmp_path: Path) -> None:
    """Keys, host list and variables are what mpi-operator's pkg/controller/mpi_job_controller.go makes."""
    spec = yaml.safe_load(script.texts["mpijob.yaml"])["spec"]
    pods = {
        kind: replica["template"]["spec"]["containers"][0]
        for kind, replica in spec["mpiReplicaSpecs"].items()
    }
    workers = [f"script-worker-{number}" for number in range(spec["mpiReplicaSpecs"]["Worker"]["replicas"])]
    mpi = tmp_path / "mpi"
    mpi.mkdir()
    hosts = "".join(f"{worker} slots={spec['slotsPerWorker']}\n" for worker in workers)
    (mpi / "hostfile").write_text(hosts, encoding="utf-8")
    given = [
        "OMPI_MCA_orte_keep_fqdn_hostnames=true",
        "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10",
        f"OMPI_MCA_orte_set_default_slots={spec['slotsPerWorker']}",
    ]
    with Cluster(tmp_path / "pods", [*workers, "script-launcher"]) as cluster:
        volumes = {mpi: "/etc/mpi", _make_secret(tmp_path / "secret"): spec["sshAuthMountPath"]}
        containers = Containers(cluster, script.root, script.config, volumes)
        for worker in workers:
            cluster.service(worker, containers.command(worker, *pods["Worker"]["command"]))
        port = pods["Worker"]["readinessProbe"]["tcpSocket"]["port"]
        for worker in workers:
            until_ready(
                containers, worker, ["bash", "-c", f": < /dev/tcp/{cluster.address(worker)}/{port}"], 60
            )
        output = containers.run("script-launcher", "env", *given, *pods["Launcher"]["command"]).stdout
        held = sorted(file.name for file in (tmp_path / "secret").iterdir())
    assert "4 ranks on 2 hosts, equal: True" in output
    assert held == ["authorized_keys", "id_rsa", "id_rsa.pub"], "no pair was made beside the operator's"


def _make_secret(folder: Path) -> Path:
    """A pair of keys as the operator mounts it: of its own kind and names, owned by root, readable by all."""
    folder.mkdir()
    key = folder / "id_rsa"
    command = [
        "ssh-keygen",
        "-q",
        "-t",
        "ecdsa",
        "-b",
        "521",
        "-m",
        "PEM",
        "-N",
        "",
        "-C",
        "",
        "-f",
        str(key),
    ]
    subprocess.run(command, check=True)
    shutil.copy(f"{key}.pub", folder / "authorized_keys")
    for file in folder.iterdir():
        file.chmod(0o644)
    folder.chmod(0o777)
    return folder


def until_ready(containers: Containers, name: str, command: list[str], retries: int) -> None:
    """Repeat a container's check until it passes."""
    for _ in range(retries):
        answer = containers.run(name, *command, check=False)
        if answer.returncode == 0:
            return
        time.sleep(1)
    raise AssertionError(f"{name} is not ready: {answer.stderr}")
