"""Compiling, caching and installing for real, in environments of their own that borrow this one's torch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
import time
import venv
from pathlib import Path

import pytest

from hvdkit.install import cache, failure

pytestmark = [pytest.mark.build, pytest.mark.timeout(1800)]
REPOSITORY = Path(__file__).parents[2]


def make_environment(folder: Path) -> Path:
    """A fresh virtual environment with pip, behind it this one's packages but Horovod; returns its python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    borrowed = folder / "borrowed"
    borrowed.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("horovod"):
            (borrowed / entry.name).symlink_to(entry)
    (packages / "borrowed.pth").write_text(f"{REPOSITORY}\n{borrowed}\n")
    return python


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    return make_environment(tmp_path / "venv")


def install(python: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "hvdkit", "install-horovod", *arguments]
    return subprocess.run(
        command, env={**os.environ, **variables}, cwd="/", capture_output=True, text=True, check=False
    )


def test_a_second_environment_takes_the_wheel_from_the_cache(environment: Path, tmp_path: Path) -> None:
    first = install(environment, "--json")
    assert first.returncode == 0, first.stderr
    second_python = make_environment(tmp_path / "second")
    second = install(second_python, "--json", "--wheel-dir", str(tmp_path / "wheels"))
    assert second.returncode == 0, second.stderr
    answer = json.loads(second.stdout)
    assert answer["result"] == "from the cache"
    assert answer["key"] == json.loads(first.stdout)["key"]
    assert {"import horovod.torch", "allreduce on 2 ranks, torch, mpi"} <= set(answer["seconds"])
    assert [wheel.name for wheel in (tmp_path / "wheels").iterdir()] == [Path(answer["wheel"]).name]
    where = subprocess.run(
        [str(second_python), "-c", "import horovod; print(horovod.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout).is_relative_to(tmp_path / "second")
    check = install(second_python, "--check")
    assert (check.returncode, check.stdout) == (0, "Horovod 0.28.1 fits this environment\n")


def test_a_build_that_fails_says_why_and_leaves_only_the_log(environment: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    done = install(environment, HVDKIT_CACHE=str(store), LDFLAGS="-lnosuch")
    assert done.returncode == 2
    assert "cannot find -lnosuch" in done.stderr
    (log,) = (store / "logs").iterdir()
    assert str(log) in done.stderr
    assert "cannot find -lnosuch" in "\n".join(failure.first_error(log.read_text().splitlines()).lines)
    assert {file.name for file in store.iterdir()} == {"logs"}


def test_ctrl_c_ends_the_build_and_leaves_nothing_half_done(environment: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = subprocess.Popen(
        [str(environment), "-m", "hvdkit", "install-horovod", "--rebuild"],
        env={**os.environ, "HVDKIT_CACHE": str(store)},
        cwd="/",
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "compiling Horovod: " in line:
            break
    assert working_in(store), "no compiler is at work"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert {file.name for file in store.iterdir()} == {"logs"}
    time.sleep(0.5)
    assert working_in(store) == []


def working_in(folder: Path) -> list[str]:
    """Processes whose working folder lies in `folder`."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(link.readlink()).startswith(str(folder)):
                found.append(link.parent.name)
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


def test_a_damaged_wheel_is_compiled_again(environment: Path, tmp_path: Path) -> None:
    """With a compiler that fails at once: what is looked at is that the damaged wheel was not taken."""
    store = tmp_path / "store"
    facts = json.loads(
        install(environment, "--dry-run", "--json", HVDKIT_CACHE=str(store), LDFLAGS="-lnosuch").stdout
    )
    wheel = tmp_path / "horovod-0.28.1-py3-none-any.whl"
    wheel.write_bytes(b"compiled")
    entry = cache.put(store, facts["key"], wheel, {})
    entry.wheel.write_bytes(b"comp")
    done = install(environment, HVDKIT_CACHE=str(store), LDFLAGS="-lnosuch")
    assert f"cached wheel not used: {entry.wheel} is not the file that was built" in done.stderr
    assert "compiling for torch" in done.stderr
    assert done.returncode == 2
