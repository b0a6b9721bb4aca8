"""`hvdkit docker`'s files at work: three kinds of project on the CPU image, and compose.yaml's commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
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


def build(store: Store, image: str, project: str, folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """The image of a project as its files say, and its compose.yaml."""
    with generated(project, folder, *options) as (code, texts):
        assert code == 0
        dockerfile = next(path for path in texts if path.endswith("Dockerfile"))
        name = f"localhost/{project}:test"
        (Path.cwd() / ".env").write_text("PASSWORD=secret\n", encoding="utf-8")
        settings = pip_settings.options(store.folder / "pip")
        store.build(Path.cwd(), Path.cwd() / dockerfile, f"--build-arg=BASE={image}", *settings, image=name)
        composed = next(text for path, text in texts.items() if path.endswith("compose.yaml"))
    return name, yaml.safe_load(composed)


def words(service: dict[str, Any]) -> list[str]:
    """A service's command as Compose starts it."""
    return [word.replace("$$", "$") for word in service["command"]]


@pytest.mark.parametrize("project", ["notebook", "package"])
def test_a_project_runs_in_its_image(store: Store, image: str, project: str, tmp_path: Path) -> None:
    name, composed = build(store, image, project, tmp_path)
    command = words(composed["services"]["launcher"])
    script = command[command.index("python") :]
    with store.container(name) as container:
        output = store.run(container, "horovodrun", "-np", "2", *script, options=("--env=OMP_NUM_THREADS=1",))
        assert "2 ranks on 1 hosts, equal: True" in output
        if project == "notebook":
            held = store.run(container, "ls", "-A").split()
            assert held == [".dockerignore", "docker-requirements.txt", "train.ipynb", "train.py"]
        # What the image underneath was compiled for is still there.
        frameworks = store.run(container, "pip", "list", "--format", "freeze")
    with store.container(image) as container:
        before = store.run(container, "pip", "list", "--format", "freeze")
    kept = ("torch==", "horovod==", "hvdkit==", "setuptools==")
    assert [line for line in frameworks.splitlines() if line.startswith(kept)] == [
        line for line in before.splitlines() if line.startswith(kept)
    ]


@pytest.fixture(scope="module")
def composed(
    store: Store, image: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Containers, dict[str, Any]]]:
    """A container for each service of the script's compose.yaml, nothing started yet."""
    name, document = build(store, image, "script", tmp_path_factory.mktemp("project"))
    services = document["services"]
    with store.container(name) as container:
        with Cluster(tmp_path_factory.mktemp("composed"), list(services)) as cluster:
            yield Containers(cluster, store.files(container), store.config(name)["config"], {}), services


def test_compose_starts_the_job(composed: tuple[Containers, dict[str, Any]]) -> None:
    containers, services = composed
    launcher = services["launcher"]
    assert not any(containers.keys.iterdir()), "no key comes with the image"
    for name in launcher["depends_on"]:
        containers.cluster.service(name, containers.command(name, *words(services[name])))
    for name in launcher["depends_on"]:
        _until_healthy(containers, name, services[name]["healthcheck"])
    output = containers.run("launcher", *words(launcher)).stdout
    assert "4 ranks on 2 hosts, equal: True" in output


def _until_healthy(containers: Containers, name: str, check: dict[str, Any]) -> None:
    kind, *command = check["test"]
    assert kind == "CMD"
    for _ in range(check["retries"]):
        if containers.run(name, *command, check=False).returncode == 0:
            return
        time.sleep(float(check["interval"].removesuffix("s")))
    raise AssertionError(f"{name} is not healthy: {containers.run(name, *command, check=False).stderr}")
