"""Whatever a rule writes of Horovod's asks for the rank: no rule has to say so."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import needed, safe
from hvdkit.migrate.decisions.rank_questions import rank_questions
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import Finding
from hvdkit.source.project.opening import open_project

PLAIN = "import torch\n\nfirst()\nlast()\n"
NAMED = "import torch\nimport horovod.torch as horovod\n\nfirst()\nlast()\n"


def asked_by(
    folder: Path, text: str, line: str, make: Callable[..., Finding] = safe, suggested: bool = False
) -> list[int]:
    """The lines of the statements that ask once a rule has put a line above the last one."""
    (folder / "train.py").write_text(text)
    facts = Facts(open_project([folder / "train.py"]), Options(suggested=suggested))
    (names,) = facts.files
    last = names.source.tree.body[-1]
    finding = make(facts, "HVD000", names, last, "", edits.before, names.source, last, [line])
    return [question.statement.lineno for question in rank_questions(facts, [finding])]


@pytest.mark.parametrize("line", ["x = hvd.rank()", "hvd.barrier()", "loss *= 1 / hvd.size()", "f(hvd.rank)"])
def test_what_is_written_of_horovod_asks(line: str, tmp_path: Path) -> None:
    assert asked_by(tmp_path, PLAIN, line) == [4]


@pytest.mark.parametrize("line", ["hvd.init()", "x = 1", "my_hvd.rank()", "hvd = None"])
def test_what_starts_horovod_and_what_is_none_of_its_asks_nothing(line: str, tmp_path: Path) -> None:
    assert asked_by(tmp_path, PLAIN, line) == []


def test_it_is_known_by_the_name_that_the_file_gives_it(tmp_path: Path) -> None:
    assert asked_by(tmp_path, NAMED, "x = horovod.rank()") == [5]
    assert asked_by(tmp_path, NAMED, "x = hvd.rank()") == []


def test_an_edit_that_waits_asks_once_it_is_made(tmp_path: Path) -> None:
    assert asked_by(tmp_path, PLAIN, "x = hvd.rank()", needed) == []
    assert asked_by(tmp_path, PLAIN, "x = hvd.rank()", needed, suggested=True) == [4]
