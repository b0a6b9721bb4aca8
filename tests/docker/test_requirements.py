"""What a project needs besides the image: what it says itself, and its imports where it says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.docker.requirements import Requirements, RequirementsError, find_requirements
from hvdkit.docker.script import read_script
from tests.files import write_files

HOROVOD = "import horovod.torch as hvd\n\nhvd.init()\n"


def found(folder: Path, files: dict[str, str], script: str = "train.py") -> Requirements:
    write_files(folder, {script: HOROVOD, **files}.items())
    return find_requirements(folder, read_script(folder / script))


@pytest.mark.parametrize(
    "line",
    [
        "torch",
        "Torch==1.13",
        "torch[opt]>=2 ; python_version > '3'",
        "tensorflow_cpu",
        "horovod[torch]==0.28",
        "nvidia-cudnn-cu12==9.1",
        "hvdkit",
        "setuptools",
        "torch @ https://example.org/torch.whl",
        "-e .",
        ".[dev]",
    ],
)
def test_what_the_image_holds_is_not_installed_again(tmp_path: Path, line: str) -> None:
    needed = found(tmp_path, {"requirements.txt": f"{line}\n"})
    assert needed.lines == ()
    assert [written for written, _ in needed.changed] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "torchmetrics==1.0",
        "pytorch-lightning",
        "horovod-extras",
        "numpy==1.26.4",
        "tensorflow-datasets",
        "kerastuner",
        "git+https://example.org/x.git",
        "--index-url https://example.org/simple",
        "x ; extra == 'a#b'",
    ],
)
def test_everything_else_is_kept_as_written(tmp_path: Path, line: str) -> None:
    needed = found(tmp_path, {"requirements.txt": f"{line}   # why\n"})
    assert needed.lines == (line,)
    assert needed.changed == ()


def test_what_follows_torch_gets_the_version_that_fits(tmp_path: Path) -> None:
    needed = found(tmp_path, {"requirements.txt": "torchvision==0.14.1\ntorchaudio\n"})
    assert needed.lines == ("torchvision", "torchaudio")
    assert [written for written, _ in needed.changed] == ["torchvision==0.14.1"]


def test_included_files_and_continued_lines(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "a\n-r sub/b.txt\n--requirement=c.txt\n",
        "sub/b.txt": "-r ../d.txt\nb\n",
        "c.txt": "c \\\n  >= 1\n",
        "d.txt": "d\n",
    }
    assert found(tmp_path, files).lines == ("a", "d", "b", "c >= 1")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"requirements.txt": "-r requirements.txt\n"}, "includes itself"),
        ({"requirements.txt": "-r missing.txt\n"}, "missing.txt cannot be read"),
        ({"requirements.txt": "x==1 --hash=sha256:00\n"}, "gives hashes"),
        ({"pyproject.toml": "[project\n"}, "cannot be read"),
        ({"pyproject.toml": "[project]\nname='x'\ndynamic=['dependencies']\n"}, "are dynamic"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\nx='*'\n"}, "Poetry's own format"),
    ],
)
def test_what_cannot_be_put_into_the_image_is_refused(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    with pytest.raises(RequirementsError, match=said) as refused:
        found(tmp_path, files)
    assert refused.value.fix


def test_requirements_win_over_pyproject_and_pyproject_over_imports(tmp_path: Path) -> None:
    script = {"train.py": "import sklearn\n" + HOROVOD}
    assert found(tmp_path, script).lines == ("scikit-learn",)
    tool = {**script, "pyproject.toml": "[tool.ruff]\n"}
    assert found(tmp_path, tool).lines == ("scikit-learn",)
    project = {**script, "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['torch', 'b>1']\n"}
    assert found(tmp_path, project).lines == ("b>1",)
    assert found(tmp_path, {**project, "requirements.txt": "a\n"}).lines == ("a",)


def test_imports_of_every_file_of_the_project_that_is_used(tmp_path: Path) -> None:
    files = {
        "tools/train.py": "import os, cv2\nfrom models.net import Net\nimport helper\n" + HOROVOD,
        "tools/helper.py": "import PIL.Image\nfrom . import nothing\n",
        "src/models/__init__.py": "",
        "src/models/net.py": "import torch, numpy, yaml\nimport unheard_of_module.part\n",
        "unused.py": "import pandas\n",
    }
    needed = found(tmp_path, files, "tools/train.py")
    assert needed.lines == ("opencv-python-headless", "pillow", "pyyaml")
    assert needed.unknown == ((tmp_path / "src/models/net.py", 2, "unheard_of_module"),)


SECRET = "[default]\naws_secret_access_key = wJalrXUtnFEMI\n"


def link(path: Path, target: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("files", "links", "named"),
    [
        ({}, {"requirements.txt": "../theirs"}, "requirements.txt leads to "),
        ({"requirements.txt": "-r ../theirs\n"}, {}, "theirs is outside "),
        ({"requirements.txt": "-r sub/b.txt\n", "sub/b.txt": "-r../../theirs\n"}, {}, "theirs is outside "),
        ({"requirements.txt": "-r {outside}\n"}, {}, "theirs is outside "),
        ({"requirements.txt": "-r b.txt\n"}, {"b.txt": "../theirs"}, "b.txt leads to "),
        ({"requirements.txt": "-r sub/theirs\n"}, {"sub": ".."}, "sub/theirs leads to "),
        ({}, {"pyproject.toml": "../theirs"}, "pyproject.toml leads to "),
        ({"requirements.txt": "-r .git/config\n", ".git/config": SECRET}, {}, "keeps out of the image"),
        ({"requirements.txt": "-r a.txt\n", ".env": SECRET}, {"a.txt": ".env"}, "keeps out of the image"),
        (
            {"requirements.txt": "-r .config/gcloud/x\n", ".config/gcloud/x": SECRET},
            {},
            "keeps out of the image",
        ),
    ],
)
def test_what_is_not_the_projects_is_named_and_not_read(
    tmp_path: Path,
    files: dict[str, str],
    links: dict[str, str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outside, project = tmp_path / "theirs", tmp_path / "project"
    outside.write_text(SECRET)
    texts = {name: text.format(outside=outside) for name, text in files.items()}
    write_files(project, {"train.py": HOROVOD, **texts}.items())
    for name, target in links.items():
        link(project / name, target)
    monkeypatch.chdir(project)
    before = sorted(project.rglob("*"))
    assert main(["docker", "train.py"]) == 2
    said = "".join(capsys.readouterr())
    assert named in said and "wJalr" not in said and "fix: copy the lines" in said
    assert sorted(project.rglob("*")) == before


def test_a_script_that_is_a_link_out_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The image would have a link that leads nowhere."""
    write_files(tmp_path, {"theirs.py": HOROVOD, "project/x": ""}.items())
    link(tmp_path / "project" / "train.py", "../theirs.py")
    monkeypatch.chdir(tmp_path / "project")
    assert main(["docker", "train.py"]) == 2
    assert "train.py leads to " in capsys.readouterr().err


def test_a_module_that_is_a_link_out_of_the_project(tmp_path: Path) -> None:
    """The image has no such module: it is named, and what the file imports is not."""
    (tmp_path / "theirs.py").write_text("import pandas\n")
    link(tmp_path / "project" / "helper.py", "../theirs.py")
    needed = found(tmp_path / "project", {"train.py": "import helper\n" + HOROVOD})
    assert [module for _, _, module in needed.unknown] == ["helper"]
    assert needed.lines == ()
