"""Programs that start in the ways people start them give the same ranks and weights under horovodrun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.migrate.command import main as migrate
from tests import originals
from tests.warm import forked

PROGRAMS = Path(__file__).parent / "programs"
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", sys.executable]
# What mp.spawn numbers is the rank of a host: on two hosts, two ranks write one name.
BY_HOST = "files are written by rank 0 only: one rank of each host writes (local_rank, not rank) at"
HOROVODRUN = [*UNCHECKED, "-np", "2", "--gloo", sys.executable]


def ended(command: list[str], results: Path) -> subprocess.CompletedProcess[str]:
    """Run a job to its end."""
    env = originals.environment({**os.environ, "RESULTS": str(results), "OMP_NUM_THREADS": "1"})
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return subprocess.run(forked(command, env), env=env, capture_output=True, text=True, timeout=120)


def run(command: list[str], results: Path, ranks: int = 2) -> list[Any]:
    """Run a job to its end; what each rank wrote."""
    done = ended(command, results)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(Path(f"{results}.{rank}").read_text()) for rank in range(ranks)]


def migrated(name: str, folder: Path, *options: str, open_rows: tuple[str, ...] = ()) -> Path:
    """The migrated script of a program in its own copy; nothing may be left but `open_rows`."""
    shutil.copytree(PROGRAMS / name, folder / name)
    report = folder / "report.json"
    code = migrate(["migrate", str(folder / name), "--write", "--allow-no-vcs", f"--json={report}", *options])
    rows = [row for program in json.loads(report.read_text())["programs"] for row in program["conditions"]]
    assert tuple(f"{row['name']}: {row['detail']}" for row in rows if row["state"] == "open") == open_rows
    assert code == (1 if open_rows else 0)
    for file in (folder / name).glob("*.py"):
        assert "torch.distributed" not in file.read_text()
    return folder / name / "train.py"


@pytest.mark.launch
def test_spawned_processes_become_horovodruns(tmp_path: Path) -> None:
    original = PROGRAMS / "spawned" / "train.py"
    before = run([sys.executable, str(original), "--multiprocessing-distributed"], tmp_path / "torch")
    # No option is passed: a job of two is a distributed one.
    after = run([*HOROVODRUN, str(migrated("spawned", tmp_path))], tmp_path / "horovod")
    assert [result[:3] for result in before] == [[0, 2, 8], [1, 2, 8]]
    assert after == before


@pytest.mark.launch
def test_a_helper_never_takes_the_single_process_way_in_a_job(tmp_path: Path) -> None:
    script = migrated("helper", tmp_path)
    before = run([*TORCHRUN, str(PROGRAMS / "helper" / "train.py")], tmp_path / "torch")
    after = run([*HOROVODRUN, str(script)], tmp_path / "horovod")
    assert [result[:2] for result in before] == [[True, 2], [True, 2]]
    assert after == before
    alone = run([sys.executable, str(script)], tmp_path / "alone", ranks=1)
    assert alone[0][:2] == [False, 1]


@pytest.mark.launch
def test_a_script_stops_where_an_option_asks_for_another_parallelism(tmp_path: Path) -> None:
    before = run([*TORCHRUN, str(PROGRAMS / "sharded" / "train.py")], tmp_path / "torch")
    script = migrated("sharded", tmp_path, "--suggested")
    assert run([*HOROVODRUN, str(script)], tmp_path / "horovod") == before
    stopped = ended([*HOROVODRUN, str(script), "--zero_stage", "1"], tmp_path / "stopped")
    assert stopped.returncode != 0
    told = "zero_stage == 1: ZeroRedundancyOptimizer does not run under Horovod"
    assert told in stopped.stdout + stopped.stderr


@pytest.mark.launch
def test_workers_run_one_after_the_other_in_the_same_processes(tmp_path: Path) -> None:
    before = run([sys.executable, str(PROGRAMS / "demos" / "train.py")], tmp_path / "torch")
    script = migrated("demos", tmp_path, open_rows=(f"{BY_HOST} train.py:36, train.py:45",))
    after = run([*HOROVODRUN, str(script)], tmp_path / "horovod")
    assert [len(demos) for demos in before] == [2, 2]
    assert after == before


@pytest.mark.launch
def test_a_partition_for_each_process_and_gradients_averaged_by_hand(tmp_path: Path) -> None:
    before = run([sys.executable, str(PROGRAMS / "partitioned" / "train.py")], tmp_path / "torch")
    rows = (
        "every optimizer averages gradients: the script sums gradients itself, as before, at train.py:51",
        "ranks start from the same weights: no broadcast of the model was found",
        f"{BY_HOST} train.py:69",
    )
    script = migrated("partitioned", tmp_path, open_rows=rows)
    assert "Process(" not in script.read_text()
    after = run([*HOROVODRUN, str(script)], tmp_path / "horovod")
    assert [result[:2] for result in before] == [[0, 2], [1, 2]]
    assert before[0][2] != before[1][2]  # the ranks see other data
    assert after == before


@pytest.mark.launch
def test_a_library_that_asks_torch_distributed_still_counts_for_all_ranks(tmp_path: Path) -> None:
    original = PROGRAMS / "measured" / "train.py"
    before = run([*TORCHRUN, str(original)], tmp_path / "torch")
    results = {}
    for name, options in {"kept": (), "none": ("--ignore", "HVD115")}.items():
        script = tmp_path / f"{name}.py"
        shutil.copy(original, script)
        assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff", *options]) == 0
        results[name] = run([*HOROVODRUN, str(script)], tmp_path / name)
    assert results["kept"] == before
    counted = [[whole for whole, own in seen] for seen, _ in before]
    alone = [[own for whole, own in seen] for seen, _ in before]
    assert counted[0] == counted[1] and alone[0] != alone[1]
    assert [[whole for whole, own in seen] for seen, _ in results["none"]] == alone


@pytest.mark.launch
def test_objects_that_another_file_made_while_it_was_imported(tmp_path: Path) -> None:
    before = run([*TORCHRUN, str(PROGRAMS / "brought" / "train.py")], tmp_path / "torch")
    after = run([*HOROVODRUN, str(migrated("brought", tmp_path))], tmp_path / "horovod")
    assert after == before
    assert after[0] == after[1]


@pytest.mark.launch
def test_an_optimizer_that_is_made_again_for_the_same_model(tmp_path: Path) -> None:
    before = run([*TORCHRUN, str(PROGRAMS / "phases" / "train.py")], tmp_path / "torch")
    after = run([*HOROVODRUN, str(migrated("phases", tmp_path))], tmp_path / "horovod")
    assert after == before
    assert after[0] == after[1]
    # Without the rule the hooks of the first one are still there, and Horovod stops.
    (tmp_path / "without").mkdir()
    script = migrated("phases", tmp_path / "without", "--ignore", "HVD415")
    assert ended([*HOROVODRUN, str(script)], tmp_path / "stopped").returncode != 0


@pytest.mark.launch
def test_optimizers_that_are_made_by_name_get_averages_before_their_steps(tmp_path: Path) -> None:
    before = run([sys.executable, str(PROGRAMS / "named" / "train.py")], tmp_path / "torch")
    rows = (
        "training data is sharded by rank: which loader feeds the training could not be followed: loop.py:53",
        f"{BY_HOST} loop.py:114",
    )
    script = migrated("named", tmp_path, open_rows=rows)
    after = run([*HOROVODRUN, str(script)], tmp_path / "horovod")
    assert [result[:3] for result in before] == [[0, 2, "00000"], [1, 2, "00000"]]
    assert after == before  # the folder, the weights, and statistics of all ranks, bit for bit
    loop = script.parent / "loop.py"
    averaged = loop.read_text()
    loop.write_text(averaged.replace("hvd.grouped_allreduce_(gradients, op=hvd.Average)", "pass"))
    assert loop.read_text() != averaged
    apart = ended([*HOROVODRUN, str(script)], tmp_path / "apart")
    assert apart.returncode != 0 and "assert (tensor == other).all()" in apart.stdout + apart.stderr


@pytest.mark.launch
def test_what_no_optimizer_can_average_is_averaged_after_backward(tmp_path: Path) -> None:
    before = run([*TORCHRUN, str(PROGRAMS / "masters" / "train.py")], tmp_path / "torch")
    script = migrated("masters", tmp_path)
    assert "DistributedOptimizer" not in script.read_text()
    assert run([*HOROVODRUN, str(script)], tmp_path / "horovod") == before
    assert before[0] == before[1]
    script.write_text(script.read_text().replace("async_(p.grad,", "async_(p.grad.clone(),"))
    apart = run([*HOROVODRUN, str(script)], tmp_path / "apart")
    assert apart[0] != apart[1]


@pytest.mark.launch
def test_steps_in_no_sync_stay_each_ranks_own(tmp_path: Path) -> None:
    before = run([*TORCHRUN, str(PROGRAMS / "local" / "train.py")], tmp_path / "torch")
    script = migrated("local", tmp_path)
    assert "DistributedOptimizer" not in script.read_text()
    assert run([*HOROVODRUN, str(script)], tmp_path / "horovod") == before
    assert before[0] != before[1]
