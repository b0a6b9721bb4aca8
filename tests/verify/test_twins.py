"""A single-process original as the ranks of a job: what is compared, and what refutes each kind of fault."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.observe.records import TO_END
from hvdkit.verify.detect import how_to_start
from hvdkit.verify.differences import Stage
from hvdkit.verify.hook.settings import TWIN, Settings
from hvdkit.verify.judge import Verification
from hvdkit.verify.scene import Request, Scene
from hvdkit.verify.session import verify
from hvdkit.verify.twins.launch import start, wait
from hvdkit.verify.twins.lines import Line, compare_lines
from hvdkit.verify.twins.numbers import Scales, is_wrong
from hvdkit.verify.twins.run import Twinned, run_twins

FIXTURES = Path(__file__).parent / "fixtures"
SCALES = Scales(2, frozenset({(0.1, 0.2)}), frozenset({(60, 30)}))


@pytest.mark.parametrize(
    ("job", "twins", "wrong"),
    [
        ("0.3750", ("0.3750", "0.3750"), False),
        ("0.1875", ("0.3750", "0.3750"), True),  # halved by an average
        ("0.3751", ("0.3750", "0.3750"), False),  # summed in a different order
        ("0.2", ("0.1", "0.1"), False),  # the rate, scaled
        ("0.6", ("0.3", "0.3"), True),  # twice as much, and no rate
        ("30", ("60", "60"), False),  # a rank's share of the data
        ("7", ("14", "14"), True),
        ("0.512", ("0.512", "0.734"), False),  # rank 0's own
        ("0.623", ("0.512", "0.734"), False),  # the mean
        ("0.3115", ("0.512", "0.734"), True),  # the mean, halved
        ("nan", ("0.5", "0.5"), True),
        ("nan", ("nan", "nan"), False),
        ("1732000000.5", ("12.5", "1012.5"), False),  # the clock, which jumps in the second twin
    ],
)
def test_a_number(job, twins, wrong):
    assert is_wrong(job, twins, SCALES) is wrong


@pytest.mark.parametrize(
    ("job", "alone", "wrong"),
    [
        ("1.246", "0.481", True),  # a sum, of what the original alone has about the mean of
        ("0.623", "0.481", False),
        ("1.246", "1.310", False),  # the original adds up, too
        ("0.623", "1.310", True),
        ("1.246", "0.880", False),  # neither
        ("1.246", "", False),
        ("0.512", "1.310", False),  # rank 0's own
    ],
)
def test_a_reduction_of_what_each_rank_has(job, alone, wrong):
    assert is_wrong(job, ("0.512", "0.734"), SCALES, alone) is wrong


def test_an_average_of_counts_that_is_rounded():
    assert is_wrong("16", ("15", "18"), SCALES, "40") and not is_wrong("33", ("15", "18"), SCALES, "40")


def lines(*texts: str) -> list[Line]:
    return [Line(text, step=place + 1, place=f"train.py:{place}") for place, text in enumerate(texts)]


def test_lines_are_matched_by_their_words():
    job = lines("rank 0 of 2", "epoch 0: loss 0.5 at 10:31:07", "epoch 1: loss 0.250 at 10:31:09")
    twin = lines("epoch 0: loss 0.5 at 10:32:44", "epoch 1: loss 0.125 at 10:32:50", "done")
    [wrong], [missing] = compare_lines(job, [twin, twin], SCALES)
    assert (wrong.before.text, wrong.now.step) == ("epoch 1: loss 0.125 at 10:32:50", 3)
    assert missing.text == "done"


def test_what_each_rank_has_may_be_equal_at_times():
    """A sum of 8 and 8 hits, in a line whose numbers differ in the epoch before."""
    ranks = [lines("3 hits", "8 hits"), lines("4 hits", "8 hits")]
    assert compare_lines(lines("7 hits", "16 hits"), ranks, SCALES)[0] == []
    assert len(compare_lines(lines("7 hits", "16 hits"), [ranks[0], ranks[0]], SCALES)[0]) == 2


def test_warnings_and_progress_bars_are_no_results():
    noise = lines("train.py:3: UserWarning: 2 workers", " 50%|#### | 5/10 [00:01<00:01, 4.93it/s]")
    assert compare_lines([], [noise, noise], SCALES) == ([], [])


def test_twins_are_started_in_their_copies_and_end_together(tmp_path):
    copies = [tmp_path / "one", tmp_path / "two"]
    script = f"import os, sys; open('seen', 'w').write(os.environ['{TWIN}']); sys.exit(int(sys.argv[1]))"
    for copy in copies:
        copy.mkdir()
        (copy / "train.py").write_text(script)
    for code in (0, 3):
        script = [sys.executable, "train.py", str(code)]
        started = start([(str(copy), script) for copy in copies])
        assert wait(started) == code
    assert [(copy / "seen").read_text() for copy in copies] == ["0", "1"]


PAIRS = Path(__file__).parents[2] / "benchmarks" / "mutation" / "pairs"


@pytest.mark.launch
@pytest.mark.parametrize("name", sorted(folder.name for folder in PAIRS.iterdir()))
def test_an_original_as_one_rank_equals_itself(tmp_path, monkeypatch, name):
    """To the bit: what a twin is given and what is averaged change nothing."""
    shutil.copytree(PAIRS / name, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    script = tmp_path / "project" / "original.py"
    request = Request(script, script, world=1, steps=TO_END)
    scene = Scene(request, Path.cwd(), tmp_path, lambda line: print(line, file=sys.stderr))
    settings = Settings("", 1, TO_END, own=1, twinned=True)
    run = scene.run("original", script, how_to_start(script), settings)
    twins = run_twins(scene, how_to_start(script), settings, run, run)
    assert isinstance(twins, Twinned), str(twins)
    assert twins.comparison.identical and not twins.unchecked
    assert twins.twins.taken(0) == run.taken(0) > 10


@pytest.mark.launch
@pytest.mark.parametrize("place", ["before the optimizer", "after it"])
def test_batches_that_each_rank_draws_by_a_seed_of_its_own(tmp_path, monkeypatch, place):
    """No loader gives them; a twin has its rank's random state from where the job has its own."""
    shutil.copytree(PAIRS / "drawn", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    script, seed = Path("right.py"), "torch.manual_seed(5 + 1000 * hvd.rank())\n"
    text = script.read_text()
    assert seed in text
    if place == "after it":
        text = text.replace(seed, "").replace("average = {", f"{seed}average = {{")
        script.write_text(text)
    request = Request(Path("original.py"), script, steps=TO_END)
    result = verify(request, lambda line: print(line, file=sys.stderr))
    assert result.comparison.identical and result.code == 0


ORIGINAL = """\
import torch, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(56, 8)
train, valid = TensorDataset(x[:40], x[:40, :3].argmax(1)), TensorDataset(x[40:], x[40:, :3].argmax(1))
loader, whole = DataLoader(train, batch_size=4, shuffle=True), DataLoader(valid, batch_size=4)
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
for epoch in range(3):
    for a, b in loader:
        opt.zero_grad()
        F.cross_entropy(net(a), b).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    net.eval()
    with torch.no_grad():
        found = sum(F.cross_entropy(net(a), b, reduction="sum").item() for a, b in whole)
    net.train()
    loss = found / len(valid)
    plateau.step(loss)
    print(f"epoch {epoch}: loss {loss:.4f}, rate {opt.param_groups[0]['lr']}")
    torch.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": epoch}, f"{epoch}.pt")
    with open("log.csv", "a") as log:
        log.write(f"{epoch},{loss:.5f}\\n")
"""
MIGRATED = """\
import torch, torch.nn.functional as F, horovod.torch as hvd
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

hvd.init()
torch.manual_seed(0)
x = torch.randn(56, 8)
train, valid = TensorDataset(x[:40], x[:40, :3].argmax(1)), TensorDataset(x[40:], x[40:, :3].argmax(1))
whole = DistributedSampler(valid, hvd.size(), hvd.rank(), shuffle=False)
share = DataLoader(valid, batch_size=4, sampler=whole)
sampler = DistributedSampler(train, hvd.size(), hvd.rank())
loader = DataLoader(train, batch_size=4, sampler=sampler)
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05 * hvd.size(), momentum=0.9, weight_decay=0.01)
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
opt = hvd.DistributedOptimizer(opt, named_parameters=net.named_parameters())
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for a, b in loader:
        opt.zero_grad()
        F.cross_entropy(net(a), b).backward()
        opt.synchronize()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        with opt.skip_synchronize():
            opt.step()
    net.eval()
    with torch.no_grad():
        found = sum(F.cross_entropy(net(a), b, reduction="sum").item() for a, b in share)
    net.train()
    loss = hvd.allreduce(torch.tensor(found, dtype=torch.float64), op=hvd.Sum).item() / len(valid)
    plateau.step(loss)
    if hvd.rank() == 0:
        print(f"epoch {epoch}: loss {loss:.4f}, rate {opt.param_groups[0]['lr']}")
        torch.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": epoch}, f"{epoch}.pt")
        with open("log.csv", "a") as log:
            log.write(f"{epoch},{loss:.5f}\\n")
"""


def compared(folder: Path, monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str]) -> Verification:
    monkeypatch.chdir(folder)
    migrated = MIGRATED
    for old, new in edits:
        assert old in migrated
        migrated = migrated.replace(old, new)
    Path("original.py").write_text(ORIGINAL)
    Path("migrated.py").write_text(migrated)
    request = Request(Path("original.py"), Path("migrated.py"), steps=15)
    return verify(request, lambda line: print(line, file=sys.stderr))


@pytest.mark.launch
def test_a_right_migration_agrees(tmp_path, monkeypatch):
    """The rates are scaled, the evaluation is shared out, and one rank writes."""
    result = compared(tmp_path, monkeypatch)
    assert result.comparison.differences == () and result.code == 0
    assert result.comparison.original.world == 2
    assert not list(tmp_path.glob("*.pt")), "nothing is written here"


# Edits of the migrated script; the difference that shows each, and a text in the line of both scripts.
FAULTS = (
    ("weight_decay=0.01", "weight_decay=0.01 * hvd.size()", Stage.SETTING, "SGD("),
    ("op=hvd.Sum).item()", "op=hvd.Average).item()", Stage.DECISION, "plateau.step"),
    ('"epoch": epoch}', '"epoch": epoch + hvd.size()}', Stage.CONTENTS, "torch.save"),
    ('log.write(f"{epoch}', 'log.write(f"{epoch * 3 + 1}', Stage.CONTENTS, "open("),
    ("epoch {epoch}:", "epoch {epoch + 1}:", Stage.PRINTED, "print("),
)


@pytest.mark.launch
def test_each_fault_is_shown_with_both_lines(tmp_path, monkeypatch):
    result = compared(tmp_path, monkeypatch, *((old, new) for old, new, _, _ in FAULTS))
    assert result.code == 1 and result.comparison.differences[0].stage is Stage.SETTING
    shown = {(difference.stage, difference.places) for difference in result.comparison.differences}
    lost = [
        (old, shown)
        for old, _, stage, text in FAULTS
        if (stage, tuple(_line(name, text) for name in ("original.py", "migrated.py"))) not in shown
    ]
    assert not lost


@pytest.mark.launch
def test_a_file_that_no_rank_writes(tmp_path, monkeypatch):
    result = compared(tmp_path, monkeypatch, ('f"{epoch}.pt")', '"/dev/null")'))
    first = result.comparison.differences[0]
    assert (first.stage, first.name, first.migrated) == (Stage.FILES, "0.pt", "written by no rank")
    assert first.places == (_line("original.py", "torch.save"), "")


def _line(name: str, text: str) -> str:
    lines = Path(name).read_text().splitlines()
    return f"{name}:{next(number for number, line in enumerate(lines, 1) if text in line)}"
