"""A migrated script of one process, run on 2 ranks: shares, orders, weights, output and files are right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.migrate.command import main as migrate
from tests.warm import forked

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "single.py"
LIBRARIES = Path(__file__).parent / "libraries"  # outside of the project, as what pip installs
SAMPLES = list(range(24))


def environment(results: Path) -> dict[str, str]:
    """What a run gets: where its results go, and the programs beside this Python."""
    env = {**os.environ, "RESULTS": str(results), "OMP_NUM_THREADS": "1"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return env


def on_two_ranks(script: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A script run on 2 ranks under Gloo, to its end and without an error."""
    command = [*UNCHECKED, "-np", "2", "--gloo", sys.executable, str(script)]
    done = subprocess.run(forked(command, env), env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.launch
@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_two_ranks_share_the_work(tmp_path: Path, target: str) -> None:
    script = tmp_path / "single.py"
    script.write_text(PROGRAM.read_text())
    options = ["--write", "--allow-no-vcs", "--no-diff", "--target", target]
    assert migrate(["migrate", str(script), *options]) == 0

    folder = tmp_path / "results"
    done = on_two_ranks(script, environment(folder))

    ranks = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    assert len(ranks) == 2
    assert ranks[0]["weights"] == ranks[1]["weights"]
    assert [rank["rate"] for rank in ranks] == pytest.approx([0.01, 0.01])
    for epoch in ("0", "1"):
        shares = [rank["seen"][epoch] for rank in ranks]
        assert sorted(shares[0] + shares[1]) == SAMPLES  # disjoint, and complete
        assert done.stdout.count(f"epoch {epoch}") == 1
    assert ranks[0]["seen"]["0"] != ranks[0]["seen"]["1"]
    assert ranks[0]["seen"]["0"] != sorted(ranks[0]["seen"]["0"])  # shuffled, as it was
    assert [path.name for path in folder.glob("*.pt")] == ["model.pt"]


@pytest.mark.launch
@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_what_is_made_on_import_knows_its_rank(tmp_path: Path, target: str) -> None:
    program = shutil.copytree(PROGRAMS / "imported", tmp_path / "imported")
    options = ["--write", "--allow-no-vcs", "--no-diff", "--suggested", "--target", target]
    assert migrate(["migrate", str(program), *options]) == 0

    env = environment(tmp_path)
    done = on_two_ranks(program / "train.py", env)
    (batches, weights), (others, same) = (json.loads(path.read_text()) for path in tmp_path.glob("*.json"))
    assert weights == same
    assert sorted(int(x) for batch in (*batches[:3], *others[:3]) for x in batch) == SAMPLES
    assert done.stdout.count("epoch 1") == 1


@pytest.mark.launch
def test_a_tensor_with_an_optimizer_of_its_own(tmp_path: Path) -> None:
    """The same batches on both ranks: the averages are what one process computes, to the last bit."""
    script = tmp_path / "tempered.py"
    script.write_text((PROGRAMS / "tempered.py").read_text())
    env = environment(tmp_path)
    subprocess.run(forked([sys.executable, str(script)], env), env=env, timeout=120, check=True)
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 1  # HVD304 is left

    on_two_ranks(script, env)
    digests = [path.read_text() for path in tmp_path.glob("*.txt")]
    assert len(digests) == 3 and len(set(digests)) == 1


@pytest.mark.launch
def test_steps_by_hand_get_averages(tmp_path: Path) -> None:
    """Of the same batches the averages are what one process computes; of others, the same on both ranks."""
    script = tmp_path / "stepping.py"
    script.write_text((PROGRAMS / "stepping.py").read_text())
    env = environment(tmp_path)
    subprocess.run(forked([sys.executable, str(script)], env), env=env, timeout=120, check=True)
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 1  # HVD304 is left

    on_two_ranks(script, env)
    alone = [path.read_text() for path in tmp_path.glob("*.txt")]
    assert len(alone) == 3 and len(set(alone)) == 1

    def two_ranks(folder: str, before: str, after: str) -> list[str]:
        """The digests of two ranks with a line of the script changed."""
        assert before in script.read_text()
        changed = tmp_path / f"{folder}.py"
        changed.write_text(script.read_text().replace(before, after))
        (tmp_path / folder).mkdir()
        where = {**env, "RESULTS": str(tmp_path / folder)}
        on_two_ranks(changed, where)
        return [path.read_text() for path in (tmp_path / folder).glob("*.txt")]

    seed = "torch.manual_seed(3)"
    apart = f"{seed.rstrip(')')} + hvd.rank())"
    script.write_text(script.read_text().replace(seed, apart))
    same = two_ranks("same", apart, apart)
    assert len(same) == 2 and len(set(same)) == 1 and same[0] not in alone
    unsent = two_ranks("unsent", "async_(p.grad,", "async_(p.grad.clone(),")
    assert len(set(unsent)) == 2
    undecided = two_ranks("undecided", "hvd.broadcast_object(", "(lambda own, root_rank: own)(")
    assert len(set(undecided)) == 2


@pytest.mark.launch
def test_target_networks_and_weights_that_are_drawn_late_are_the_same(tmp_path: Path) -> None:
    script = tmp_path / "targets.py"
    script.write_text((PROGRAMS / "targets.py").read_text())
    env = environment(tmp_path)
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 1  # HVD304 is left
    on_two_ranks(script, env)
    for name in ("net", "target", "head"):
        digests = [path.read_text() for path in tmp_path.glob(f"{name}-*.txt")]
        assert len(digests) == 2 and len(set(digests)) == 1, name


@pytest.mark.launch
def test_a_head_and_then_the_whole_model(tmp_path: Path) -> None:
    """Ranks agree after each phase: on a body that each drew at random, with two optimizers of the head."""
    script = tmp_path / "tuned.py"
    script.write_text((PROGRAMS / "tuned.py").read_text())
    env = environment(tmp_path)
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 0
    on_two_ranks(script, env)
    ranks = [path.read_text() for path in tmp_path.glob("*.txt")]
    assert len(ranks) == 2 and ranks[0] == ranks[1]


@pytest.mark.launch
def test_each_rank_plays_for_itself(tmp_path: Path) -> None:
    script = tmp_path / "player.py"
    script.write_text((PROGRAMS / "player.py").read_text())
    env = environment(tmp_path)
    env["PYTHONPATH"] = f"{LIBRARIES}{os.pathsep}{env.get('PYTHONPATH', '')}"
    subprocess.run(forked([sys.executable, str(script)], env), env=env, timeout=120, check=True)
    (alone,) = (json.loads(path.read_text()) for path in tmp_path.glob("*.json"))
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff", "--suggested"]) == 0

    on_two_ranks(script, env)
    every = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    ranks = [results for results in every if results != alone]
    assert len(ranks) == 2
    assert ranks[0]["weights"] == ranks[1]["weights"] != alone["weights"]
    assert ranks[0]["fixed"] == ranks[1]["fixed"] == alone["fixed"]
    assert ranks[0]["seen"] != ranks[1]["seen"]
    assert alone["seen"][0] in [rank["seen"][0] for rank in ranks]  # rank 0 has the seed that was given


@pytest.mark.launch
def test_ranks_leave_the_training_together(tmp_path: Path) -> None:
    script = tmp_path / "patient.py"
    script.write_text((PROGRAMS / "patient.py").read_text())
    assert migrate(["migrate", str(script), "--write", "--allow-no-vcs", "--no-diff"]) == 0

    env = environment(tmp_path)
    on_two_ranks(script, env)
    ranks = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert len(ranks) == 2
    assert {rank["past"] for rank in ranks} == {True, False}  # alone, one of them would have gone on
    assert ranks[0]["epochs"] == ranks[1]["epochs"]
    assert ranks[0]["weights"] == ranks[1]["weights"]
