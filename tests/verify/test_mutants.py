"""benchmarks/mutants.py: patches match, what they make are programs, and results are counted as they are."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_every_patch_matches_once_and_every_program_compiles(mutants):
    trials = list(mutants.trials())  # raises where one does not match
    for trial in trials:
        compile(trial.text, trial.name, "exec")
        for path in trial.given:
            compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert len({trial.name for trial in trials}) == len(trials)
    assert len({(trial.program, trial.text) for trial in trials}) == len(trials), "two are the same script"
    kinds = Counter("right" if trial.cause is None else "wrong" for trial in trials)
    assert kinds["right"] >= 15 and kinds["wrong"] >= 40


def test_a_patch_that_does_not_match_is_an_error(mutants, tmp_path, monkeypatch):
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "right.py").write_text("a = 1\na = 1\n")
    edits = json.dumps([["a = 1", "a = 2"]])
    (folder / "mutants.toml").write_text(
        f'steps = 1\nmutant = []\n[[right]]\nname = "x"\nwhat = "y"\nedits = {edits}\n'
    )
    monkeypatch.setattr(mutants, "MIGRATIONS", tmp_path)
    with pytest.raises(mutants.PatchError, match="program/x: 2 times"):
        list(mutants.trials())


@pytest.mark.parametrize(
    ("cause", "code", "said", "outcome"),
    [
        ("summed", 1, "likely cause: gradients are summed", "refused and named"),
        ("summed", 1, "likely cause: the learning rate", "refused, not named"),
        ("summed", 2, "hvdkit verify: a script failed", "refused, not named"),
        ("summed", 0, "agree", "false yes"),
        ("summed", 2, "hvdkit verify: the original script took no step for 60 s", "not run"),
        (None, 0, "agree", "agrees"),
        (None, 1, "differ: loss", "false no"),
        (None, 2, "hvdkit verify: a script failed", "false no"),
    ],
)
def test_outcomes(mutants, cause, code, said, outcome):
    assert mutants.judged(mutants.Trial("p/n", "", cause, "", (), False), code, said) == outcome


def test_the_page_is_made_from_the_results(mutants):
    tried = mutants.results_of(list(mutants.trials()))
    assert mutants.PAGE.read_text(encoding="utf-8") == mutants.page(tried)


def test_a_result_names_no_path_of_the_machine(mutants, tmp_path):
    folder, environment = tmp_path / "program-name", mutants.HERE.parent / ".venv"
    said = "\n".join(
        [
            f'File "{folder}/migrated.py", line 4',
            f'File "{environment}/lib/torch/optim.py", line 9',
            f'File "{mutants.HERE.parent}/hvdkit/verify/report.py", line 2',
            "No such file: /data/train",
        ]
    )
    assert mutants.without_paths(said, folder, f"{environment}/bin/python").splitlines() == [
        'File "migrated.py", line 4',
        'File "ENVIRONMENT/lib/torch/optim.py", line 9',
        'File "HVDKIT/hvdkit/verify/report.py", line 2',
        "No such file: /data/train",
    ]
