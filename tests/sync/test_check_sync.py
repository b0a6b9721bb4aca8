"""HVDKIT_CHECK_SYNC finds each way to part the ranks in scripts that know nothing of it; unset it is free."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import timeit
from pathlib import Path

import pytest
from patience import run_while_it_speaks

from hvdkit.errors import UsageError
from hvdkit.sync.settings import steps_due

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CONTROLLERS = {"gloo": ["--gloo"], "mpi": ["--mpi", "--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1"]}
# A script that never heard of hvdkit: every rank starts from weights of its own.
UNEDITED = """\
import sys, torch
import horovod.torch as hvd
hvd.init()
model = torch.nn.Linear(2, 1)
torch.nn.init.constant_(model.weight, hvd.rank())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
print(f"rank {hvd.rank()} went on, hvdkit", "is" if "hvdkit.sync" in sys.modules else "is not", "here")
"""


def run(controller: str, script: Path, value: str) -> subprocess.CompletedProcess[str]:
    launch = [str(Path(sys.executable).with_name("horovodrun")), "-np", "2", "-H", "localhost:2"]
    return run_while_it_speaks(
        [*launch, *CONTROLLERS[controller], sys.executable, str(script)],
        environment={**os.environ, "HVDKIT_CHECK_SYNC": value},
    )


def untagged(output: str) -> str:
    """Output without the launcher's tags, which mpirun also puts between the lines of two ranks."""
    return re.sub(r"\[\d+(,\d+)?\]<std(out|err)>:", "\n", output)


@pytest.mark.launch
@pytest.mark.timeout(0)  # run_while_it_speaks has a bound of its own
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_cause_is_named_on_every_rank(controller: str) -> None:
    job = run(controller, HERE / "program.py", "1")
    assert job.returncode == 0, job.stdout + job.stderr
    told = re.findall(r"(\w+) rank (\d): (.+)", untagged(job.stdout))
    named = {(name, rank): cause.strip() for name, rank, cause in told}
    names = {name for name, _ in named}
    assert len(names) == (22 if controller == "mpi" else 19) and len(named) == 2 * len(names)
    for (name, _), cause in named.items():
        expected = name.partition("__")[0]
        assert cause == ("none" if expected in ("healthy", "note") else expected), name
    # A healthy script says nothing; what is no error is told once.
    notes = re.findall(r"hvdkit: check_sync: (.*)", untagged(job.stderr))
    assert len(notes) == 2, notes
    assert "buffer 0.running_mean" in notes[0] and "by design" in notes[0]
    assert "not compared: rank 0 called hvd.join()" in notes[1]


@pytest.mark.launch
def test_an_unedited_script_stops_with_the_cause_or_knows_nothing_of_it(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(UNEDITED)
    checked = run("gloo", script, "1")
    assert checked.returncode != 0 and "went on" not in checked.stdout
    assert "after step 1 of optimizer 0: weight on rank 1 differs from rank 0" in checked.stderr
    assert "nothing is broadcast" in checked.stderr
    unset = run("gloo", script, "")
    assert unset.stdout.count("went on, hvdkit is not here") == 2, unset.stderr


def test_unset_it_costs_nothing() -> None:
    """Of the .pth, one line is left: a look into the environment."""
    line = (ROOT / "hvdkit_check_sync.pth").read_text()
    assert line.startswith("import ") and line.count("\n") == 1
    code = compile(line, "pth", "exec")
    assert timeit.timeit(lambda: exec(code), number=1000) < 1000 * 0.001
    probe = "import sys; print([name for name in sys.modules if name.startswith('hvdkit')])"
    for value, there in (("", False), ("1", True)):
        environment = {**os.environ, "HVDKIT_CHECK_SYNC": value}
        seen = subprocess.run([sys.executable, "-c", probe], env=environment, capture_output=True, text=True)
        assert ("hvdkit.watch.start" in seen.stdout) == there, "the .pth is installed with hvdkit"


def test_the_steps() -> None:
    assert steps_due("") == steps_due("0") == frozenset()
    due = steps_due("1")
    assert [step for step in range(1, 20_000) if step in due] == [1, 10, 100, 1000, 10_000]
    assert steps_due(" 2, 30") == {2, 30}
    for value in ("yes", "1,,2", "-1", "0,5"):
        with pytest.raises(UsageError, match="HVDKIT_CHECK_SYNC"):
            steps_due(value)
