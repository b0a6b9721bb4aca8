"""What is in the CPU image and what is not, and a job of two ranks in one container of it."""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hvdkit

from .conftest import SECRET
from .images import BASE, Store

pytestmark = [pytest.mark.images, pytest.mark.timeout(1800)]

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples"
# Drivers and what they call, under any prefix and version: g++-12, x86_64-linux-gnu-gcc.
_COMPILERS = re.compile(
    r"(.*-)?(gcc|g\+\+|cc|c\+\+|cc1|cc1plus|cpp|clang(\+\+)?|gfortran|nvcc|cicc|ptxas|as|ld|make|cmake)(-[\d.]+)?"
)
# The one Debian file with a key in it: those of its self-tests, which are published with it.
_WITH_TEST_KEYS = re.compile(r"usr/lib/[^/]+/libgnutls\.so\.[\d.]+")
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}")


def compilers(root: Path) -> list[str]:
    """Every program under `root` that compiles or links, links to such programs included."""
    return [
        str(path.relative_to(root))
        for folder, _, names in os.walk(root)
        for path in (Path(folder, name) for name in names if _COMPILERS.fullmatch(name))
        if path.is_symlink() or os.access(path, os.X_OK)
    ]


def members(layers: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file in the layers."""
    for layer in layers:
        with tarfile.open(layer) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                yield member.name, file.read() if file else b""


def test_the_migrated_example_trains_on_two_ranks(store: Store, container: str, digits: Path) -> None:
    mounts = (
        f"--volume={_EXAMPLES}:/examples:ro",
        f"--volume={digits}:/digits:ro",
        "--env=OMP_NUM_THREADS=1",
    )
    script = ["python", "/examples/mnist/train_ddp_horovod.py", "--data", "/digits", "--epochs", "2"]
    assert store.run(container, "id", "-un").strip() == "hvdkit"
    output = store.run(container, "horovodrun", "-np", "2", *script, options=mounts)
    assert store.run(container, "stat", "--format=%U", "mnist.pt").strip() == "hvdkit"
    accuracies = [float(found) for found in re.findall(r"test accuracy ([\d.]+)%", output)]
    # Once an epoch, by rank 0 alone: two jobs of one rank would print it twice as often.
    assert len(accuracies) == 2, output
    assert accuracies[-1] > 80, output


def test_doctor_finds_nothing(store: Store, image: str, container: str) -> None:
    answer = store.run(container, "hvdkit", "doctor")
    check = store.config(image)["config"]["Healthcheck"]["Test"]
    assert check[0] == "CMD"
    store.run(container, *check[1:])
    assert re.search(r"^ok +horovod +Horovod 0\.28\.1, built for torch", answer, re.MULTILINE), answer
    assert re.search(r"^ok +operations +Horovod with MPI, Gloo", answer, re.MULTILINE), answer


def test_horovod_has_what_it_was_built_for(store: Store, container: str) -> None:
    built = store.run(container, "horovodrun", "--check-build")
    for part in ("PyTorch", "MPI", "Gloo"):
        assert f"[X] {part}" in built
    assert "[ ] NCCL" in built


def test_every_version_is_the_one_that_is_pinned(store: Store, container: str) -> None:
    pins = set((_ROOT / "docker" / "versions.txt").read_text().splitlines())
    found = store.run(container, "pip", "list", "--format=freeze").split()
    # torch's CPU builds are 2.13.0+cpu, which is 2.13.0.
    names = [re.sub(r"\+.*", "", line.replace("_", "-").lower()) for line in found]
    ours = re.compile(r"(hvdkit|horovod|pip)==")
    assert [line for line in names if line not in pins and not ours.match(line)] == []


def test_no_compiler_is_left(files: Path) -> None:
    assert compilers(files) == []


def test_compilers_are_found_where_there_are_some() -> None:
    assert {"g++", "gcc", "ld", "cmake", "make"} <= set(compilers(Path("/usr/bin")))
    assert {"cc1", "cc1plus"} <= {Path(path).name for path in compilers(Path("/usr/lib/gcc"))}


def test_no_key_and_no_secret_is_in_any_layer(store: Store, image: str, layers: list[Path]) -> None:
    assert len(layers) > 1
    history = store.buildah("inspect", "--type=image", image)
    assert SECRET not in history
    found = []
    for name, content in members(layers):
        file = Path(name).name
        if re.fullmatch(
            r"ssh_host_\w+_key(\.pub)?|id_\w+(\.pub)?|authorized_keys|\.netrc|\.env|pip\.conf", file
        ):
            found.append(name)
        if SECRET.encode() in content:
            found.append(name)
        if _PRIVATE_KEY.search(content) and not _WITH_TEST_KEYS.fullmatch(name):
            found.append(name)
    assert found == []


def test_nothing_of_the_building_machine_is_left(files: Path) -> None:
    """Of what was mounted nothing but the place is here, and nothing was cached."""
    assert list((files / "etc/xdg/pip").glob("*")) == []
    assert not (files / "src").exists()
    assert [path for path in (files / "root" / ".cache").rglob("*") if not path.is_dir()] == []
    assert list((files / "var/lib/apt/lists").glob("*Packages*")) == []


def test_the_image_says_what_it_is(store: Store, image: str) -> None:
    config = store.config(image)["config"]
    labels = config["Labels"]
    assert labels["org.opencontainers.image.version"] == hvdkit.__version__
    assert labels["org.opencontainers.image.base.name"] == BASE
    assert config["User"] == "1000"
    assert config["ExposedPorts"] == {"2222/tcp": {}}


def test_size(image: str, files: Path, layers: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Printed for the log; what must not grow unseen is that the final stage takes the environment alone."""
    sizes = [layer.stat().st_size for layer in layers]
    asked = ["du", "--block-size=1M", "--max-depth=5", str(files / "opt")]
    usage = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    folders = sorted((int(size), path) for size, path in (line.split("\t") for line in usage.splitlines()))
    with capsys.disabled():
        print(f"\n{image}: {sum(sizes) / 1e6:.0f} MB in {len(sizes)} layers")
        for size, layer in sorted(zip(sizes, range(len(sizes))), reverse=True)[:3]:
            print(f"  layer {layer + 1}: {size / 1e6:.0f} MB")
        for size, path in folders[-8:]:
            print(f"  {size:6d} MiB {Path(path).relative_to(files)}")
    assert sizes.index(max(sizes)) == len(sizes) - 1
