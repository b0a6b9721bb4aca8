"""Notebooks: cells as one program; edits land in their cells, the rest of the file stays byte for byte."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hvdkit.migrate.catalog.rule import Change, Keep
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Applicability
from hvdkit.migrate.rules import all_rules
from hvdkit.source.edits import Edit
from hvdkit.source.read.notebook import NotANotebook, blanked, parse_notebook
from tests.files import write_files
from tests.rule_examples import examples


def notebook(*cells: Any, kind: str = "code", **layout: Any) -> str:
    """A notebook's text; a cell's source is a list of lines or one string."""
    made = [
        {
            "cell_type": kind if not str(source).startswith("#md") else "markdown",
            "metadata": {"source": ["not this one"]},
            "outputs": [{"text": ["source"], "data": {"source": "nor this"}}],
            "source": source,
        }
        for source in cells
    ]
    return json.dumps({"cells": made, "nbformat": 4, "metadata": {"kernelspec": {}}}, **layout)


def test_cells_become_one_program() -> None:
    parsed = parse_notebook(notebook(["import torch\n", "x = 1"], "#md text", "y = 2\n"))
    assert parsed.program == "import torch\nx = 1\n\ny = 2\n"


@pytest.mark.parametrize("layout", [{}, {"indent": 1}, {"indent": 4, "ensure_ascii": False}])
def test_only_the_changed_source_changes(layout: dict[str, Any]) -> None:
    text = notebook(["a = 'é'\n", "b = 2"], "c = 3", **layout)
    parsed = parse_notebook(text)
    place = parsed.program.index("2")
    changed = parsed.rewritten([Edit(place, place + 1, "4")])
    assert json.loads(changed)["cells"][0]["source"] == ["a = 'é'\n", "b = 4"]
    assert len(changed) == len(text)
    assert [i for i, (old, new) in enumerate(zip(text, changed)) if old != new] == [text.index("2")]


def test_no_edits_no_change() -> None:
    text = notebook(["a = 1\n"], "b = 2", indent=2)
    assert parse_notebook(text).rewritten([]) == text


def test_an_insertion_below_a_cells_last_line_stays_in_it() -> None:
    parsed = parse_notebook(notebook(["a = 1"], "%%bash\nls"))
    end = parsed.cells[0].end + 1
    cells = json.loads(parsed.rewritten([Edit(end, end, "b = 2\n")]))["cells"]
    assert cells[0]["source"] == ["a = 1\n", "b = 2"]
    assert cells[1]["source"] == "%%bash\nls"


def test_an_insertion_below_a_last_line_has_the_line_ends_of_its_cell() -> None:
    parsed = parse_notebook(notebook(["a = 1\r\n", "b = 2"], "d = 4"))
    end = parsed.cells[0].end
    cells = json.loads(parsed.rewritten([Edit(end + 1, end + 1, "c = 3\r\n")]))["cells"]
    assert cells[0]["source"] == ["a = 1\r\n", "b = 2\r\n", "c = 3"]


def test_a_timed_cell_is_python() -> None:
    assert blanked("%%time\nx = 5").split() == ["x", "=", "5"]
    assert blanked("%%timeit\nx = 5").split() == []  # runs in a function of its own


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline",
        "!pip install x  # why",
        "if True:\n    !ls",
        "%%bash\nls | wc -l",
        "%%time\n%matplotlib inline\nx = 5",
        "files = !ls *.py",
        "torch.nn.Linear?",
        "x = 5 % 3\nprint('100%!')",
        "text = '''\nwhat?'''",
    ],
)
def test_magics_are_blanked_to_the_same_length(code: str) -> None:
    program = blanked(code)
    assert len(program) == len(code)
    compile(program, "cell", "exec")


def test_python_stays() -> None:
    code = "x = 5 % 3\nprint('100%!')\ny = 'really?'\n# why?\n"
    code += "print('%d'\n      % x)\ntext = '''\n! no\nwhat?'''\n"
    assert blanked(code) == code
    assert blanked(f"!ls\n{code}%time x") == f"...\n{code}...    "


@pytest.mark.parametrize("text", ["[]", "{", '{"cells": 3}', '{"nbformat": 3, "worksheets": []}', "not json"])
def test_what_is_no_notebook_is_said(text: str) -> None:
    with pytest.raises(NotANotebook):
        parse_notebook(text)


def test_a_notebook_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(
        notebook(
            ["%matplotlib inline\n", "import torch\n", "import torch.distributed as dist"],
            ["dist.init_process_group('gloo')\n", "print(dist.get_rank())"],
            indent=1,
        )
    )
    plan = make_plan([tmp_path], Options())
    (file,) = plan.files
    assert not file.problem
    cells = json.loads(file.after)["cells"]
    assert cells[0]["source"] == ["%matplotlib inline\n", "import horovod.torch as hvd\n", "import torch"]
    assert cells[1]["source"] == ["hvd.init()\n", "print(hvd.rank())"]
    assert cells[0]["outputs"] == json.loads(file.before)["cells"][0]["outputs"]
    assert {(finding.cell, finding.line) for finding in plan.findings} == {(2, 1), (2, 2)}


def test_each_cell_has_a_guard_of_its_own(tmp_path: Path) -> None:
    training = """\
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data):
    model(x).sum().backward()
    optimizer.step()
"""
    (tmp_path / "train.ipynb").write_text(notebook(training, "print(1)\nprint(2)", "print(3)"))
    (file,) = make_plan([tmp_path], Options()).files
    cells = ["".join(cell["source"]) for cell in json.loads(file.after)["cells"]]
    assert cells[1:] == [
        "if hvd.rank() == 0:\n    print(1)\n    print(2)",
        "if hvd.rank() == 0:\n    print(3)",
    ]


def test_a_cell_that_would_not_parse_by_itself_is_no_result() -> None:
    parsed = parse_notebook(notebook("print(1)", "print(2)"))
    edits = [Edit(0, 0, "if x:\n    "), Edit(parsed.cells[1].start, parsed.cells[1].start, "    ")]
    with pytest.raises(NotANotebook, match="by itself"):
        parsed.rewritten(edits)


def test_a_broken_notebook_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": "import torch"')
    plan = make_plan([tmp_path], Options())
    assert [reason.split(":")[0] for _, _, reason in plan.unreadable] == ["not a notebook"]


def test_places_in_sentences_are_cells_and_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    training = "model = torch.nn.Linear(2, 1)\nmodel(x).sum().backward()\nunknown.step()\n"
    path.write_text(notebook("import torch", "import horovod.torch as hvd\nhvd.init()\n", training))
    (program,) = make_plan([path], Options()).programs
    assert program.conditions[0].detail == "hvd.init() at train.ipynb:cell 2:2"


def program_of(example: Change | Keep) -> str:
    """The text that a rule is shown."""
    return example.texts()[0] if isinstance(example, Change) else example.text()


def in_two_cells(text: str) -> tuple[str, int]:
    """A notebook of a script's text, cut above its last top-level statement but imports; the cut's line."""
    body = ast.parse(text).body
    first = next((s for s in body[1:] if not isinstance(s, (ast.Import, ast.ImportFrom))), body[-1])
    last = max(first.lineno, body[len(body) // 2].lineno)
    lines = text.splitlines(keepends=True)
    return notebook("".join(lines[: last - 1]).removesuffix("\n"), "".join(lines[last - 1 :])), last


# What a notebook's cells make of two examples by their nature: see the tests below.
SHARES_A_LINE = "a_loop_cannot_follow_on_the_line_of_its_if"
ONE_ROW = "another_program_reads_one_of_them"
NAMED = re.compile(r"^\s*(from|import) train\b|train\.py", re.MULTILINE)  # by a file that knows no notebook
PLACE = re.compile(r"train\.(py|ipynb):(cell \d+:)?\d+|line \d+( of cell \d+)?")
REPORTING = {
    f"{rule.id}-{name}": (rule.id, example)
    for rule, name, example in examples(all_rules())
    if (isinstance(example, Change) or example.reported)
    if len(ast.parse(program_of(example)).body) > 1
    if not any(NAMED.search(content) for _, content in example.files)
}
Said = tuple[str, str, int, Applicability, str, str]


def said_in_both(named: str, folder: Path) -> tuple[set[Said], set[Said], int]:
    """What is said of an example as a script, and as two cells in the lines of that; where it is cut."""
    rule, example = REPORTING[named]
    text = program_of(example)
    written, cut = in_two_cells(text)
    options = Options(getattr(example, "target", "horovod"), example.suggested, (rule,))
    said: list[set[Said]] = []
    for program, content in (("train.py", text), ("train.ipynb", written)):
        own = folder / Path(program).suffix[1:]
        write_files(own, (*example.files, (program, content)))
        said.append(
            {
                (
                    f.rule,
                    f.path.stem,
                    f.line + (cut - 1) * (f.cell == 2),
                    f.applicability,
                    PLACE.sub("PLACE", f.message),
                    PLACE.sub("PLACE", f.advice),
                )
                for f in make_plan([own], options).findings
            }
        )
    script, cells = said
    assert script
    return script, cells, cut


@pytest.mark.parametrize("named", [name for name in REPORTING if not name.endswith((SHARES_A_LINE, ONE_ROW))])
def test_two_cells_are_reported_as_the_same_script(named: str, tmp_path: Path) -> None:
    script, cells, _ = said_in_both(named, tmp_path)
    assert script == cells


def test_what_shares_a_line_in_a_cell_is_left_to_the_person(tmp_path: Path) -> None:
    """It gets lines of its own in a script, where the same edit is made."""
    script, cells, _ = said_in_both(f"HVD503-{SHARES_A_LINE}", tmp_path)
    assert {(*said[:3], said[4]) for said in script} == {(*said[:3], said[4]) for said in cells}
    assert [said[3] for said in script] == [Applicability.SAFE]
    assert [said[3] for said in cells] == [Applicability.MANUAL]
    assert all("shares its line" in said[5] for said in cells)


def test_neighbours_are_guarded_in_each_of_the_cells_that_part_them(tmp_path: Path) -> None:
    """A script has one block for both, which cannot reach from one cell into another."""
    script, cells, cut = said_in_both(f"HVD607-{ONE_ROW}", tmp_path)
    (more,) = cells - script
    assert script < cells
    assert more[2] == cut
    assert (*more[:2], *more[3:]) in {(*said[:2], *said[3:]) for said in script}
