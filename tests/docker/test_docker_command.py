"""`hvdkit docker`: what it writes for three kinds of project, what it refuses, and what it tells."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from hvdkit.cli import main
from tests.docker.golden import COMMANDS, GOLDEN, PROJECTS, VALIDATED, digest, generated, golden
from tests.images.lint import lint

HOROVOD = "import horovod.torch as hvd\n\nhvd.init()\n"
HVDKIT = "import hvdkit.torch as hvd\n\nhvd.init()\n"
SINGLE = """\
import torch

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.ones(4, 1):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, entered."""
    folder = tmp_path / "mnist"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def contents(project: Path) -> dict[Path, bytes]:
    """Every file of the project but the records of writes."""
    return {path: path.read_bytes() for path in project.iterdir() if path.name != ".hvdkit"}


def write(folder: Path, text: str, name: str = "train.py") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", COMMANDS)
def test_three_kinds_of_project(name: str, tmp_path: Path) -> None:
    with generated(name, tmp_path) as (code, texts):
        assert code == 0
        assert texts == golden(name)


@pytest.mark.parametrize("file", sorted(GOLDEN.rglob("*.yaml")), ids=lambda path: "/".join(path.parts[-2:]))
def test_published_schemas_were_asked_about_exactly_this(file: Path) -> None:
    record = json.loads(VALIDATED.read_text(encoding="utf-8"))[str(file.relative_to(GOLDEN))]
    assert record["sha256"] == digest(file.read_text(encoding="utf-8")), "run python -m tests.docker.golden"


@pytest.mark.parametrize("name", COMMANDS)
def test_dockerfiles_pass_the_linter_of_docker(name: str) -> None:
    (file,) = (GOLDEN / name).rglob("Dockerfile")
    assert lint(file) == ""


def test_a_second_run_changes_nothing_and_an_edit_is_kept(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, HOROVOD)
    assert main(["docker", "train.py"]) == 0
    before = contents(project)
    assert main(["docker", "train.py"]) == 0
    assert "already up to date: Dockerfile, .dockerignore, compose.yaml" in capsys.readouterr().out
    edited = write(project, "FROM mine\n", "Dockerfile")
    (project / "compose.yaml").unlink()
    assert main(["docker", "train.py"]) == 2
    assert "Dockerfile" in capsys.readouterr().err
    assert edited.read_text() == "FROM mine\n"
    assert not (project / "compose.yaml").exists(), "all or none"
    assert main(["docker", "train.py", "--force"]) == 0
    assert contents(project) == before
    assert main(["docker", "--undo"]) == 0
    assert edited.read_text() == "FROM mine\n"
    assert not (project / "compose.yaml").exists()
    assert main(["docker", "--undo"]) == 2, "the person's own Dockerfile is not what the first run wrote"
    assert edited.read_text() == "FROM mine\n"


def test_a_project_with_a_dockerfile_of_its_own(project: Path) -> None:
    write(project, HOROVOD)
    write(project, "FROM mine\n", "Dockerfile")
    assert main(["docker", "train.py", "--output", "deploy/here"]) == 0
    made = sorted(path.name for path in (project / "deploy/here").iterdir())
    assert made == ["Dockerfile", "Dockerfile.dockerignore", "compose.yaml"]
    build = yaml.safe_load((project / "deploy/here/compose.yaml").read_text())["services"]["launcher"][
        "build"
    ]
    assert (project / "deploy/here" / build["context"]).resolve() == project
    assert build["dockerfile"] == "deploy/here/Dockerfile"
    assert (project / "Dockerfile").read_text() == "FROM mine\n"


def test_a_script_without_horovod_is_refused_with_the_way_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, SINGLE)
    assert main(["docker", "train.py"]) == 2
    error = capsys.readouterr().err
    assert "trains in one process, not Horovod" in error
    assert "would rewrite 1 file" in error
    assert "hvdkit migrate train.py" in error
    assert [path.name for path in project.iterdir()] == ["train.py"]


def test_an_unfinished_migration_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, HOROVOD + "# hvdkit: TODO[HVD204] say which model\nx = 1\n")
    assert main(["docker", "train.py"]) == 2
    error = capsys.readouterr().err
    assert "train.py:4: HVD204: say which model" in error
    assert "--force" not in error


def test_what_check_finds_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, HOROVOD + "if hvd.rank() == 0:\n    hvd.allreduce(x)\n")
    assert main(["docker", "train.py"]) == 1
    assert "train.py:5: HVD805" in capsys.readouterr().out
    assert (project / "Dockerfile").exists()


BROKEN = {
    "missing.py": (None, "does not exist"),
    "syntax.py": (b"import horovod.torch as hvd\nhvd.init(\n", "syntax error"),
    "latin.py": (b"import horovod.torch as hvd\nx = '\xe9'\n", "not utf-8 text"),
    "empty.py": (b"", "neither trains nor starts Horovod"),
    "broken.ipynb": (b"{}", "no cells"),
    "train.sh": (b"horovodrun", "neither a .py nor an .ipynb"),
    "folder": ("folder", "is not a file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_bad_input(name: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents, said = BROKEN[name]
    if isinstance(contents, bytes):
        (project / name).write_bytes(contents)
    elif contents:
        (project / name).mkdir()
    before = sorted(project.iterdir())
    assert main(["docker", name]) == 2
    assert said in capsys.readouterr().err
    assert sorted(project.iterdir()) == before


@pytest.mark.parametrize("link", ["Dockerfile", "deploy"])
def test_a_link_out_of_the_project_is_not_written_through(
    project: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, HOROVOD)
    outside = project.parent / "outside"
    theirs = write(outside, "theirs\n", "Dockerfile")
    (project / link).symlink_to(theirs if link == "Dockerfile" else outside)
    assert main(["docker", "train.py", "--force", *(["--output", link] if link == "deploy" else [])]) == 2
    assert f"outside {project}" in capsys.readouterr().err
    assert [path.read_text() for path in outside.iterdir()] == ["theirs\n"]
    assert sorted(path.name for path in project.iterdir()) == sorted([link, "train.py"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["Dockerfile", "requirements.txt", "pyproject.toml", "more.txt"])
def test_a_fifo_holds_nothing_up(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, HOROVOD)
    if name == "more.txt":
        write(project, "-r more.txt\n", "requirements.txt")
    os.mkfifo(project / name)
    assert main(["docker", "train.py", "--force"]) == 2
    said = capsys.readouterr().err
    assert name in said and "it is a FIFO, not a regular file" in said


def test_a_file_where_the_folder_should_be(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, HOROVOD)
    write(project, "", "deploy")
    assert main(["docker", "train.py", "--output", "deploy/here"]) == 2
    assert "cannot be created" in capsys.readouterr().err


def test_places_outside_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, HOROVOD)
    other = write(project.parent / "other", HOROVOD)
    assert main(["docker", str(other)]) == 2
    assert "outside the current folder" in capsys.readouterr().err
    assert main(["docker", "train.py", "--output", str(other.parent)]) == 2
    assert "outside the current folder" in capsys.readouterr().err
    assert not (other.parent / "Dockerfile").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-np", "3"], "-np 3 on 2 containers"),
        (["-np", "0"], "-np 0"),
        (["--containers", "0"], "0 containers"),
        (["--image", "Team/Train"], "not the name of an image"),
        (["--image", "a b"], "not the name of an image"),
    ],
)
def test_options_that_cannot_be(
    options: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, HOROVOD)
    assert main(["docker", "train.py", *options]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in project.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [("My Project_2", "my-project-2"), ("2020", "job-2020"), ("x" * 80, "x" * 40), ("_", "job")],
)
def test_names_that_kubernetes_takes(
    folder: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / folder
    place.mkdir()
    monkeypatch.chdir(place)
    write(place, HVDKIT)
    assert main(["docker", "train.py", "--kubernetes"]) == 0
    for file in ("mpijob.yaml", "pytorchjob.yaml"):
        assert yaml.safe_load((place / file).read_text())["metadata"]["name"] == name
    assert re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", name)


def test_pytorchjob_only_where_its_ranks_would_meet(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, HOROVOD)
    assert main(["docker", "train.py", "--kubernetes"]) == 0
    assert "no pytorchjob.yaml: horovod.torch connects no ranks" in capsys.readouterr().out
    assert not (project / "pytorchjob.yaml").exists()
    write(project, HVDKIT)
    assert main(["docker", "train.py", "--kubernetes"]) == 0
    replicas = yaml.safe_load((project / "pytorchjob.yaml").read_text())["spec"]["pytorchReplicaSpecs"]
    assert {kind: replica["replicas"] for kind, replica in replicas.items()} == {"Master": 1, "Worker": 3}


def test_each_container_has_gpus_of_its_own(project: Path) -> None:
    write(project, HVDKIT)
    assert main(["docker", "train.py", "--gpu", "-np", "6", "--containers", "3", "--kubernetes"]) == 0
    services = yaml.safe_load((project / "compose.yaml").read_text())["services"]
    held = [
        service["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"]
        for name, service in services.items()
        if name != "launcher"
    ]
    assert held == [["0", "1"], ["2", "3"], ["4", "5"]]
    job = yaml.safe_load((project / "mpijob.yaml").read_text())["spec"]
    worker = job["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == job["slotsPerWorker"] == 2
    assert "FROM ${BASE}" in (project / "Dockerfile").read_text()
    assert "ARG BASE=hvdkit:cuda\n" in (project / "Dockerfile").read_text()


def test_tensorflow_stands_on_the_image_that_has_it(project: Path) -> None:
    write(project, "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\n")
    assert main(["docker", "train.py"]) == 0
    text = (project / "Dockerfile").read_text()
    assert "ARG BASE=hvdkit:cpu-tensorflow\n" in text
    assert "--build-arg TENSORFLOW=1" in text


def test_json_tells_all_of_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "import mystery_module\nimport sklearn\n" + HOROVOD)
    assert main(["docker", "train.py", "--json", "-", "--", "--lr", "1"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == ["python", "train.py", "--lr", "1"]
    assert told["horovod"] == ["horovod.torch"]
    assert told["requirements"]["lines"] == ["scikit-learn"]
    assert told["requirements"]["unknown"] == [
        {"path": str(project / "train.py"), "line": 1, "module": "mystery_module"}
    ]
    assert {Path(path).name for path in told["written"]} == {
        path.name for path in contents(project) if path.name != "train.py"
    }


def test_the_notebooks_program_is_not_put_over_a_script_of_its_name(project: Path) -> None:
    write(project, (PROJECTS / "notebook" / "train.ipynb").read_text(), "train.ipynb")
    write(project, "print('another')\n", "train.py")
    assert main(["docker", "train.ipynb"]) == 0
    assert '"train.ipynb", "train_notebook.py"]' in (project / "Dockerfile").read_text()
    command = yaml.safe_load((project / "compose.yaml").read_text())["services"]["launcher"]["command"]
    assert command[-2:] == ["python", "train_notebook.py"]
