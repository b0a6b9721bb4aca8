"""The forms for issues: GitHub's schemas accept them, and the commands that they name are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.github_schemas import violations
from tests.test_printed_commands import END, LINE, accepted, readings

FOLDER = Path(__file__).parents[1] / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(path for path in FOLDER.glob("*.yml") if path.name != "config.yml")


def test_the_schemas_accept_them() -> None:
    assert len(FORMS) == 2
    assert violations("github-issue-forms", *FORMS) == ""
    assert violations("github-issue-config", FOLDER / "config.yml") == ""


def test_what_the_schema_forbids_is_seen(tmp_path: Path) -> None:
    (tmp_path / "form.yml").write_text("name: x\ndescription: y\nbody: [{type: nothing}]\n")
    assert "form.yml" in violations("github-issue-forms", tmp_path / "form.yml")


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_the_commands_in_them(
    form: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [
        text
        for part in yaml.safe_load(form.read_text(encoding="utf-8"))["body"]
        for text in part["attributes"].values()
    ]
    lines = [END.split(hit[0], maxsplit=1)[0] for text in texts for hit in LINE.finditer(text) if "`" in text]
    lines += [text for text in texts if text.startswith("hvdkit ")]
    assert len(lines) >= 3
    for line in lines:
        assert any(accepted(words, monkeypatch) for words in readings(line)), line
    capsys.readouterr()
