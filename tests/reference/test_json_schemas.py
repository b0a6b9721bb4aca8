"""What the commands print with `--json` fits the published schemas, which allow no other fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

from hvdkit.bench import report as bench_report
from hvdkit.bench.blocks import Spread
from hvdkit.bench.outlook import outlook
from hvdkit.cli import main
from hvdkit.doctor.allreduce import Measured
from hvdkit.doctor.command import _tell, parser
from hvdkit.examination.session import Report
from hvdkit.install.report import describe
from hvdkit.launch.tuned import Setting
from hvdkit.observe.records import Run, Step
from hvdkit.reference.json_page import page, schemas
from hvdkit.tune import command as tune_command
from hvdkit.tune.search import Candidate, Tried
from hvdkit.verify import report, report_alone
from hvdkit.verify.alone import Alone
from hvdkit.verify.causes import STATE, likely_causes
from hvdkit.verify.compare import compare
from hvdkit.verify.invariant import Invariant, Unchecked
from hvdkit.verify.judge import Verification
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.unreached import Unreached
from tests.bench.records import record
from tests.install.plans import make

SCHEMAS = schemas()
REGISTRY: Registry[Any] = Registry().with_resources(
    [(schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()]
)
ROOT = Path(__file__).parents[2]
DDP = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in [torch.ones(1, 2)]:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
dist.scatter(torch.ones(1))
"""
SINGLE = """\
import torch
import sklearn
import mystery_module

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in [torch.ones(1, 2)]:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""
HOROVOD = """\
import horovod.torch as hvd
import torch
hvd.init()
x = torch.ones(1)
hvd.allreduce(x)
print(x)
"""
REFUSED = """\
[0]<stderr>:FutureWarning: old
ValueError: Requested more processes (4) than there are available slots (2)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, entered, that is named as the project of a job."""
    inside = tmp_path / "project"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


def fit(name: str, data: object) -> Any:
    """The data as JSON, held to a schema."""
    read = json.loads(json.dumps(data))
    Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(read)
    return read


def printed(name: str, argv: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints, held to a schema."""
    assert main(argv) in (0, 1)
    return fit(name, json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"urn:hvdkit:{name}"


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_says_what_it_means(name: str) -> None:
    def objects(part: object) -> Iterator[dict[str, Any]]:
        if isinstance(part, dict):
            if "properties" in part:
                yield part
            for inner in part.values():
                yield from objects(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from objects(inner)

    found = [*objects(SCHEMAS[name])]
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert all(field["description"] for field in each["properties"].values())


@pytest.mark.parametrize("text", [DDP, SINGLE, "def broken(:\n", DDP.replace("gloo", "mpi")])
def test_migrate(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(text)
    data = printed("plan", ["migrate", "train.py", "--json", "-"], capsys)
    assert data["findings"] or data["unreadable"]


def test_migrate_a_notebook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"cell_type": "code", "source": DDP, "metadata": {}, "outputs": [], "execution_count": None}
    (folder / "train.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    data = printed("plan", ["migrate", "train.ipynb", "--json", "-"], capsys)
    assert data["findings"][0]["cell"] == 1


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(HOROVOD)
    data = printed("plan", ["check", "train.py", "--json", "-"], capsys)
    assert [finding["rule"] for finding in data["findings"]] == ["HVD801"]


def test_what_a_schema_does_not_name_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(DDP)
    data = printed("plan", ["migrate", "train.py", "--json", "-"], capsys)
    data["findings"][0]["more"] = 1
    with pytest.raises(ValidationError):
        fit("plan", data)


def test_init_and_rules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(HOROVOD + "loss.backward()\n")
    assert printed("init", ["init", "--json"], capsys)["found"]["uses_horovod"] == ["train.py"]
    assert len(printed("rules", ["rules", "--json"], capsys)) > 100


def test_explain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "known.log").write_text(REFUSED)
    data = printed("explain", ["explain", "--log", "known.log", "--json"], capsys)
    assert data["harmless"] and data["evidence"] and data["line"] == 2
    (folder / "unknown.log").write_text("all is well\n")
    data = printed("explain", ["explain", "--log", "unknown.log", "--json"], capsys)
    assert data["cause"] is None and data["next"]


def test_explain_every_log_that_was_kept(capsys: pytest.CaptureFixture[str]) -> None:
    kept = sorted((ROOT / "tests" / "explain" / "logs").glob("*/*.log"))[::12]
    assert any(printed("explain", ["explain", "--log", str(log), "--json"], capsys)["also"] for log in kept)


def test_timeline(capsys: pytest.CaptureFixture[str]) -> None:
    for file in sorted((ROOT / "tests" / "timeline" / "provoked").glob("*.json")):
        assert printed("timeline", ["timeline", str(file), "--json"], capsys)["steps"] > 2


def test_bench() -> None:
    block = {
        "horovod": record([[0.05] * 9, [0.08] * 9], [[0.04] * 9, [0.01] * 9], alone=0.04),
        "one": record([[0.06] * 9]),
        "ddp": record([[0.1] * 9] * 2),
    }
    exchanges = [Measured(4, 2, 0.001, 0.0), Measured(2**26, 2, 0.1, 0.0)]
    fit("bench", bench_report.data("mlp", [block], outlook([block], exchanges, 512)))
    alone = bench_report.data("mlp", [{"horovod": record([[0.1]]), "one": record([[0.1]])}], None)
    assert fit("bench", alone)["late"] is None


def test_tune() -> None:
    tried = [
        Tried(Candidate("gloo", Setting("gloo")), Spread(0.8, 0.9, 0.95), 4),
        Tried(Candidate("mpi", Setting("mpi")), Spread(math.inf, math.inf, math.inf), 1),
    ]
    data = tune_command.data("mlp", tried[1].candidate, tried[0].candidate, tried, Path("tune.toml"))
    assert [each["gains"] for each in fit("tune", data)["tried"]] == [True, False]


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    data = printed("doctor", ["doctor", "--only", "limits,shm", "--json"], capsys)
    assert len(data["findings"]) == 2
    speed = [Measured(4, 2, 0.1, 80.0)]
    _tell(Report((), {}, None, ("a",)), speed, parser().parse_args(["--json"]))
    assert fit("doctor", json.loads(capsys.readouterr().out))["allreduce"][0]["bus"] == 80.0


def test_docker(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text("import sklearn\nimport mystery_module\n" + HOROVOD)
    data = printed("docker", ["docker", "train.py", "--json", "-"], capsys)
    assert data["requirements"]["unknown"] and data["written"] and data["findings"]


def test_setup_ssh(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "key").write_text("")
    printed("setup-ssh", ["setup-ssh", "-H", "localhost", "-i", "key", "--json"], capsys)


def test_install_horovod(capsys: pytest.CaptureFixture[str]) -> None:
    printed("install-horovod", ["install-horovod", "--check", "--json"], capsys)
    facts = describe(make())
    fit("install-horovod", facts)
    fit("install-horovod", {**facts, "result": "built", "wheel": "a.whl", "seconds": {"build": 1.5}})
    fit("install-horovod", {"result": "failed", "seen": "no compiler", "why": "", "fix": ""})


def test_verify() -> None:
    def run(loss: float) -> Run:
        step = Step(0, 1, (0.1,), ())
        return Run(Path(), {rank: (replace(step, losses=(loss,)),) for rank in (0, 1)})

    failed = Invariant("state", False, "it differs", STATE)
    missed = (Unreached("a scheduler", "train.py:9", 0, "--steps 9"),)
    missing = Unchecked("the scale of the average", "Adasum is no average")
    for migrated in (run(0.5), run(0.25)):
        found = compare(run(0.5), migrated, tolerance_for(2, None))
        causes = tuple(likely_causes(found))
        result = Verification(found, causes, (failed,), ("a note",), missed, (missing,))
        data = fit("verify", report.as_json(result))
        assert bool(data["differences"]) is (migrated.steps[0][0].losses == (0.25,))
    held = Invariant("rate", True, "all ranks have one")
    fit("verify", report_alone.as_json(Alone(run(0.5), run(0.5), (held, failed), (missing,), (), missed)))


def test_the_committed_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "json.md").read_text(encoding="utf-8") == page(), "run scripts/docs"
