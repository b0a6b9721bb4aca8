"""What is saved: on hand-made records, as the hook sees it, and in a run whose checkpoint is not right."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hvdkit.observe.records import Run, Saved, Step, Tensor
from hvdkit.verify.causes import likely_causes
from hvdkit.verify.compare import compare
from hvdkit.verify.contents import contents_apart
from hvdkit.verify.hook import contents as hook
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.tolerance import tolerance_for

FIXTURES = Path(__file__).parent / "fixtures"


def tensors(**values: str) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(name.replace("_", "/"), (2,) if value[0] != "1" else (), "float32", value, 0.0)
        for name, value in values.items()
    )


def run(saved: dict[str, str], file: str = "last.pt", weights: str = "w", writer: int = 0) -> Run:
    """Two ranks that hold these weights, a momentum and a step count; one of them saves."""

    def of_rank(rank: int) -> tuple[Step, ...]:
        held = {"parameters": tensors(a=weights), "state": tensors(m="m", step="1.0")}
        files = (Saved(file, tensors(**saved)),) if rank == writer else ()
        return (Step(0, 0, (0.1,), **held), Step(0, 1, (0.1,), **held, saved=files))

    return Run(Path(), {rank: of_rank(rank) for rank in range(2)})


WHOLE = {"model_a": "w", "optimizer_0": "m", "optimizer_step": "1.0", "generator": "r"}
CASES = {
    "the same": (run(WHOLE), None),
    "another rank's": (run(WHOLE, writer=1), None),
    "under other names": (run({"a": "w", "b": "m"}), None),
    "another generator, another count": (run({**WHOLE, "generator": "s", "optimizer_step": "1.5"}), None),
    "another file": (run({}, file="other.pt"), None),
    "zeros": (run({**WHOLE, "model_a": "0"}), "has other values of model/a"),
    "two of them": (run({**WHOLE, "model_a": "0", "optimizer_0": "0"}), "values of model/a and 1 more"),
    "no optimizer": (run({"model_a": "w"}), "lacks optimizer/0"),
    "nothing": (run({}), "lacks model/a and 1 more"),
}


@pytest.mark.parametrize("case", CASES)
def test_records(case):
    migrated, words = CASES[case]
    result = compare(run(WHOLE), migrated, tolerance_for(2, None))
    assert [d.name for d in result.differences] == ([] if words is None else ["last.pt"])
    causes = likely_causes(result)
    assert [words in cause.text and cause.rule == "HVD601" for cause in causes] == [True] * (
        words is not None
    )


def test_values_are_held_against_the_original_where_the_state_agrees():
    apart = run({**WHOLE, "model_a": "v"}, weights="v")
    assert not list(contents_apart(run(WHOLE), apart))
    lacking = run({"model_a": "v"}, weights="v")
    assert [d.migrated for d in contents_apart(run(WHOLE), lacking)] == ["not in it"]


def test_a_record_is_read_as_it_was_written():
    step = run(WHOLE).steps[0][1]
    assert Step.from_line(step.to_line()) == step


def test_names_and_values_of_what_is_saved(tmp_path, monkeypatch):
    values = torch.tensor([1.0, 2.0])
    told: list[Saved] = []
    for module, name in ((torch, "save"), (torch.serialization, "save"), (np, "save"), (np, "savez")):
        monkeypatch.setattr(module, name, getattr(module, name))

    def note(target: object) -> str:
        return Path(str(target)).name

    monkeypatch.setattr(hook, "watch_files", lambda recorder: note)
    hook.watch_saves(SimpleNamespace(saved=told))
    model = torch.nn.Linear(1, 1)
    torch.save({"model": {"module.a": values}, "epoch": 3, "list": [values]}, tmp_path / "a.pt")
    with (tmp_path / "b.pt").open("wb") as file:
        torch.save(model, file)
    np.save(str(tmp_path / "c"), values.numpy())
    np.savez(str(tmp_path / "d"), x=values.numpy())
    assert [(saved.file, [tensor.name for tensor in saved.tensors]) for saved in told] == [
        ("a.pt", ["model/a", "epoch", "list/0"]),
        ("b.pt", ["weight", "bias"]),
        ("c.npy", [""]),
        ("d.npz", ["x"]),
    ]
    same = [told[0].tensors[0], told[0].tensors[2], told[2].tensors[0], told[3].tensors[0]]
    assert len({tensor.digest for tensor in same}) == 1
    assert np.load(tmp_path / "c.npy").tolist() == [1.0, 2.0]


@pytest.mark.launch
def test_a_checkpoint_of_zeros(tmp_path, monkeypatch):
    shutil.copytree(FIXTURES / "plain", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    script = Path("migrated.py")
    text, right = script.read_text(), "torch.save(model.state_dict(),"
    assert text.count(right) == 1
    zeros = "torch.save({k: torch.zeros_like(v) for k, v in model.state_dict().items()},"
    script.write_text(text.replace(right, zeros))
    result = verify(Request(Path("original.py"), script, steps=4), lambda line: print(line, file=sys.stderr))
    assert [(d.stage.value, d.name, d.step) for d in result.comparison.differences] == [
        ("contents of", "model.pt", 4)
    ]
    assert "model.pt has other values of 0.weight and 3 more" in result.causes[0].text
