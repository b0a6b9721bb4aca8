"""The CPU image, really built, once for all tests marked `images`."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hvdkit.install import cache
from tests.examples.test_mnist import write_idx

from . import pip_settings
from .images import Store

_ROOT = Path(__file__).parents[2]
CPU = "localhost/hvdkit:cpu"
# Of this folder: what is large, and what tests and lint that run beside these make and remove.
_LEFT_OUT = (".venv*", ".git", "benchmarks", ".*_cache", "__pycache__")
# Beside the files of hvdkit when the image is built, as they lie in people's folders.
SECRET = "hunter2-6d1f0c9be4"
SECRET_FILES = (".env", "id_ed25519", "docker/.env", "hvdkit/.netrc")


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    # Not pytest's folder, which outlives the run: this one takes gigabytes.
    with tempfile.TemporaryDirectory(prefix="hvdkit-images-") as folder:
        yield Store(Path(folder))


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What of a folder is not copied. The documentation is built in site/, and hvdkit has one, too."""
    found = shutil.ignore_patterns(*_LEFT_OUT)(folder, names)
    return {*found, "site"} if Path(folder) == _ROOT else set(found)


@pytest.fixture(scope="session")
def image(store: Store) -> str:
    """docker/Dockerfile, target cpu, built from a copy of this project with secrets lying about."""
    store.make_base()
    context = store.folder / "context"
    shutil.copytree(_ROOT, context, ignore=_left_out)
    for name in SECRET_FILES:
        (context / name).write_text(f"PASSWORD={SECRET}\n")
    options = pip_settings.options(store.folder / "pip")
    # hvdkit's wheels, by all that changes them: compiled here, unless this machine has one that is the same.
    wheels = cache.root(os.environ)
    wheels.mkdir(parents=True, exist_ok=True)
    inside = cache.root({"XDG_CACHE_HOME": f"{pwd.getpwuid(0).pw_dir}/.cache"})  # root builds there
    options.append(f"--volume={wheels}:{inside}")
    store.build(context, context / "docker" / "Dockerfile", "--target=cpu", *options, image=CPU)
    return CPU


@pytest.fixture(scope="session")
def files(store: Store, image: str) -> Iterator[Path]:
    """The root of the image's file system, in which nothing runs."""
    with store.container(image) as untouched:
        yield store.files(untouched)


@pytest.fixture(scope="session")
def layers(store: Store, image: str) -> list[Path]:
    """The image's layers as tar archives, the lowest first."""
    return store.layers(image, store.folder / "layers")


@pytest.fixture(scope="session")
def container(store: Store, image: str) -> Iterator[str]:
    """One container to run commands in, one after another."""
    with store.container(image) as name:
        yield name


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """scikit-learn's scans of digits as MNIST's own files: what the examples read from a folder."""
    spec = importlib.util.spec_from_file_location("digits", _ROOT / "examples" / "mnist" / "digits.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("digits")
    for part, (images, labels) in zip(("train", "t10k"), module.load()):
        write_idx(folder / f"{part}-images-idx3-ubyte", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels)
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    return folder
