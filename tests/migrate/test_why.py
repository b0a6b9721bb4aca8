"""`hvdkit migrate --why ROW`: what decides a row, step by step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvdkit.cli import main
from tests.migrate.test_forms import script

GUARDED = """\
@top
def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
@end
save(model, f"m{time.time()}.pt")
"""
OWN_RATE = """\
@opt
optimizer = torch.optim.SGD(model.parameters(), lr=random.random())
"""


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "train.py"


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_row_that_holds_names_the_test_above_a_writer(
    train: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train.write_text(script(GUARDED))
    assert main(["migrate", "train.py", "-q", "--why", "Files"]) == 0
    said = capsys.readouterr().out
    assert "why yes train.py: files are written by rank 0 only" in said
    assert "rank 0 writes this file  torch.save(model.state_dict(), path)" in said
    assert "this test is True, False, False, False on ranks 0 to 3  hvd.rank() == 0" in said
    assert "its name: not the same on all ranks; the time, each rank's own  time.time()" in said


def test_an_open_row_names_what_each_rank_draws(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train.write_text(script(OWN_RATE))
    assert main(["migrate", "train.py", "-q", "--why", "same settings", "--json", "-"]) == 1
    (program,) = json.loads(capsys.readouterr().out)["programs"]
    rows = {row["name"]: row for row in program["conditions"]}
    drawn = next(step for step in rows["ranks train with the same settings"]["why"] if step["depth"] == 1)
    assert drawn["code"] == "random.random()"
    assert drawn["place"]["line"] == line_of(train.read_text(), "random.random()")
    assert not any("why" in row for name, row in rows.items() if "settings" not in name)


@pytest.mark.parametrize(
    ("row", "step"),
    [
        ("sharded", "a DistributedSampler divides what this loads"),
        ("different order", "the epoch is set here"),
        ("same weights", "its weights: the same on all ranks; drawn from a random state"),
        ("averages", "all ranks average gradients here"),
        ("meet", "all ranks come to gradients"),
        ("own device", "this is decided by migrate's rules"),
    ],
)
def test_the_steps_of_each_row(train: Path, capsys: pytest.CaptureFixture[str], row: str, step: str) -> None:
    train.write_text(script(GUARDED))
    main(["migrate", "train.py", "-q", "--why", row])
    assert step in capsys.readouterr().out


def test_the_page_has_the_steps(train: Path) -> None:
    train.write_text(script(GUARDED))
    main(["migrate", "train.py", "--why", "files", "--html=page.html"])
    assert "<code>hvd.rank() == 0</code>" in Path("page.html").read_text()


def test_a_row_that_is_not_there(train: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train.write_text(script(GUARDED))
    assert main(["migrate", "train.py", "--why", "no such row"]) == 2
    assert "files are written by rank 0 only" in capsys.readouterr().err
