"""Groups of tests, and how each one runs.

pure    no mark: one process, no launcher.
launch  starts horovodrun, mpirun or torchrun itself and looks at what comes out.
build   builds wheels or makes environments.
cluster runs on real hosts made of network namespaces (tests/cluster/hosts.py); needs root.
images  builds the images of docker/ without a daemon (tests/images/images.py), runs jobs in them; needs root.
ranks   the test body runs inside every rank of a 2-rank job, as Horovod's own tests do:
        `horovodrun -np 2 --gloo python -m pytest tests` (and again with --mpi) selects exactly these.
        `HVDKIT_ENGINE=torch torchrun --nproc_per_node 2 -m pytest tests/torch` runs those of hvdkit.torch on
        torch.distributed, but for those marked `horovod`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# A run that a shell puts in the background ignores SIGINT, and one under nohup SIGHUP; so would every process
# that a test sends them to.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

WITHOUT_HOROVOD = os.environ.get("HVDKIT_ENGINE") == "torch"
IN_JOB = any(name in os.environ for name in ("HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "TORCHELASTIC_RUN_ID"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Inside a job run the tests marked `ranks`, outside all others."""

    def runs_here(item: pytest.Item) -> bool:
        if item.get_closest_marker("horovod" if WITHOUT_HOROVOD else "without_horovod") is not None:
            return False
        return (item.get_closest_marker("ranks") is not None) == IN_JOB

    keep = [item for item in items if runs_here(item)]
    dropped = [item for item in items if item not in set(keep)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = keep


@pytest.fixture(scope="session", autouse=True)
def _job() -> Iterator[None]:
    """One world for the whole session of a rank: Horovod's, or that of hvdkit.torch's other engine."""
    if not IN_JOB:
        yield
        return
    installed = "tensorflow" if importlib.util.find_spec("tensorflow") else "torch"
    hvd = importlib.import_module("hvdkit.torch" if WITHOUT_HOROVOD else f"horovod.{installed}")
    hvd.init()
    assert hvd.size() > 1, "the tests marked `ranks` prove nothing in a world of one"
    yield
    hvd.shutdown()


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The key that seals records is made in a folder of the tests, not in the one of who runs them."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


def _first_rank() -> bool:
    names = ("HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "RANK")
    return next((os.environ[name] for name in names if name in os.environ), "0") == "0"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Append `group passed failed skipped` to the file that scripts/test sums up."""
    path = os.environ.get("HVDKIT_TEST_COUNTS")
    if hasattr(terminalreporter.config, "workerinput"):
        return  # pytest-xdist's workers: the process that gave them their tests counts all
    if not path or not _first_rank():
        return
    stats = terminalreporter.stats
    counts = [len(stats.get(key, [])) for key in ("passed", "failed", "skipped")]
    counts[1] += len(stats.get("error", []))
    group = os.environ.get("HVDKIT_TEST_GROUP", "tests")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{group} {counts[0]} {counts[1]} {counts[2]}\n")
