"""benchmarks/truth.py: what it generates are programs, and it tells what is claimed from what is seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.migrate.conditions import table
from hvdkit.migrate.conditions.paper_job import MEET

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from truth import claims, held
from truth.choices import WAYS, Choices, drawn, fitting
from truth.examples import undefined, why_not
from truth.programs import VALIDATED, files
from truth.runs import Job, Seen

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "truth.py"
PLAIN = fitting({thing: ways[0] for thing, ways in WAYS.items()})
TRAINED = [float(i) for i in range(40)]


def rank(number: int, **more: object) -> Seen:
    """What the probe of one of two ranks writes of three epochs of the plain program, migrated right."""
    mine = TRAINED[number::2]
    return {
        "epochs": [mine, mine[::-1], mine[5:] + mine[:5]],
        "validations": [[100.0 + i for i in range(VALIDATED)]] * 3,
        "losses": [3.0, 2.0, 1.0],
        "logged": {},
        "steps": 15,
        "start": ["Net 1.5"],
        "end": ["Net 2.5"],
        "cards": [str(number)],
        "early_cards": 0,
        "written": [],
        "folders": [],
        "group": False,
        "wrapped": 0,
        "error": "",
        **more,
    }


def seen(second: Seen) -> list[claims.Fault]:
    """The faults of a run on one host whose second rank did this."""
    return held.faults(PLAIN, [Job("one host", 0, 0, 3, {0: rank(0), 1: second}, "")])


@pytest.mark.parametrize("thing", WAYS)
def test_every_way_makes_programs(thing: str) -> None:
    for way in WAYS[thing]:
        for seed in range(2):
            for name, text in files(fitting({**dict(drawn(seed).of), thing: way})).items():
                compile(text, name, "exec")


def test_a_row_is_held_for_each_condition() -> None:
    assert {*table.STARTED, *table.TRAINING, *table.ALWAYS, MEET} == set(held.ROWS)


def test_nothing_is_wrong_with_a_run_that_is_right() -> None:
    assert seen(rank(1)) == []


@pytest.mark.parametrize(
    ("wrong", "row"),
    [
        ({"cards": ["0"]}, held.DEVICE),
        ({"early_cards": 1}, held.STARTS),
        ({"epochs": rank(0)["epochs"]}, held.SHARDED),
        ({"epochs": [TRAINED[1::2]] * 3}, held.ORDER),
        ({"validations": [TRAINED[:VALIDATED]] * 3}, held.SHARDED),
        ({"validations": [[100.0, 101.0]] * 3}, claims.VERDICT),
        ({"start": ["Net 1.6"]}, held.SAME),
        ({"end": ["Net 2.6"]}, held.AVERAGED),
        ({"written": ["last.pt"]}, held.FILES),
        ({"folders": ["run1"]}, claims.VERDICT),
        ({"wrapped": 1}, claims.GROUP.row),
        ({"steps": 16}, claims.VERDICT),
        ({"epochs": rank(1)["epochs"][:2]}, claims.VERDICT),
        ({"group": True}, claims.GROUP.row),
    ],
)
def test_what_refutes_a_row(wrong: Seen, row: str) -> None:
    assert {fault.row for fault in seen(rank(1, **wrong))} == {row}


def test_what_is_logged_is_the_mean_over_the_ranks() -> None:
    ranks = {0: rank(0, logged={"train": 2.0}), 1: rank(1, losses=[3.0, 2.0, 3.0])}
    assert held.faults(PLAIN, [Job("one host", 0, 0, 3, ranks, "")]) == []
    ranks[0]["logged"]["train"] = 4.0
    assert [fault.row for fault in held.faults(PLAIN, [Job("one host", 0, 0, 3, ranks, "")])] == [
        held.REDUCED
    ]


def test_an_old_checkpoint_is_resumed() -> None:
    asked = {thing: ways[0] for thing, ways in WAYS.items()}
    choices = fitting({**asked, "save": "last", "resume": "when-there", "old": "there"})
    ranks = {0: rank(0), 1: rank(1)}
    found = held.faults(choices, [Job("one host", 0, 0, 3, ranks, "")])
    assert any("is not resumed" in fault.what for fault in found)


def test_a_weighted_draw_is_divided() -> None:
    choices = fitting({**{thing: ways[0] for thing, ways in WAYS.items()}, "order": "weighted"})
    whole = [TRAINED, TRAINED[::-1], TRAINED[5:] + TRAINED[:5]]
    ranks = {0: rank(0, epochs=whole), 1: rank(1, epochs=[epoch[1:] + epoch[:1] for epoch in whole])}
    found = held.faults(choices, [Job("one host", 0, 0, 3, ranks, "")])
    assert {fault.row for fault in found} == {held.SHARDED}


def test_names_that_a_fragment_does_not_define() -> None:
    text = "import os as o\nfor x, in loader:\n    def f(a): return a + x + len(o.sep)\n"
    assert undefined(text) == {"loader"}


def test_the_reasons_why_an_example_does_not_run() -> None:
    assert why_not(1, "Traceback\nNameError: name 'model' is not defined\n").startswith("a fragment")
    assert why_not(1, "ModuleNotFoundError: No module named 'apex'\n") == "it imports what is not here"
    assert why_not(1, "ValueError: no\n") == "an error of its own: ValueError"
    assert why_not(124, "") == "it does not end"


@pytest.mark.launch
def test_some_programs_hold_what_is_said_of_them() -> None:
    """A few programs of a fixed seed: no false yes."""
    command = [sys.executable, str(BENCHMARK), "--seed", "90", "--programs", "5", "--jobs", "2"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 programs:" in ran.stdout
    assert "0 with a false yes" in ran.stdout


def test_the_folder_above_is_made_by_whoever_comes_first() -> None:
    made = {0: rank(0, folders=["runs/exp1"]), 1: rank(1, folders=["runs", "runs/exp1"])}
    assert held.faults(PLAIN, [Job("one host", 0, 0, 3, made, "")]) == []


def test_a_crash_refutes_the_verdict_alone() -> None:
    job = Job("two hosts", 1, 0, 3, {0: rank(0), 1: rank(1, error="ValueError: no")}, "")
    assert [fault.row for fault in held.faults(PLAIN, [job])] == [claims.VERDICT]


def test_false_yes_and_needless_open() -> None:
    fault = claims.Fault(held.SHARDED, "both ranks train on samples of one epoch")
    rows = dict.fromkeys(held.ROWS, "proven")
    claimed = claims.Claims(rows, {}, "left", ("HVD302 train.py:3 no share",))
    honest = claims.Claims({**rows, held.SHARDED: "open"}, {held.SHARDED: "every rank"}, "left", ())
    assert claims.false_yes(claimed, [fault]) == [fault]
    assert claims.false_yes(honest, [fault]) == []
    assert claims.needless(honest, [fault]) == []
    assert claims.needless(honest, []) == [f"{held.SHARDED}: every rank"]
    assert claims.needless(claims.Claims(rows, {}, "ready", ()), []) == []


def test_a_plainer_program_differs_in_what_is_asked() -> None:
    choices: Choices = drawn(3)
    for thing in WAYS:
        assert choices.plainer(thing)[thing] == WAYS[thing][0] or choices.distributed
