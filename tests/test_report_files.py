"""Options that ask for reports: no next word is taken for a file, and no file is lost to a report."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import pytest

from hvdkit.cli import COMMANDS, main
from hvdkit.earlier import is_report, is_timeline
from hvdkit.reference.commands import parser_of
from hvdkit.reports import Output, Report

HVD = "import horovod.torch as hvd\nimport torch\nhvd.init()\nx = torch.ones(1)\nhvd.allreduce(x)\nprint(x)\n"
TIMELINE = Path(__file__).parent / "timeline" / "provoked" / "plain.json"
TAKEN = {("docker", "--output"), ("migrate", "--output")}  # folders, whose files have a gate of their own
# Each command that can be run here in a moment, with what it reads.
QUICK = {
    "check": ["train.py"],
    "migrate": ["train.py"],
    "docker": ["train.py"],
    "timeline": ["timeline.json"],
    "explain": ["--log", "job.log"],
    "init": [],
    "rules": [],
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "other.py"):
        Path(name).write_text(HVD)
    Path("timeline.json").write_bytes(TIMELINE.read_bytes())
    Path("job.log").write_text("[0]<stderr>:ValueError: x\n")
    Path("results.json").write_text('{"accuracy": 0.9}\n')
    return tmp_path


def options() -> list[tuple[str, str]]:
    """Every option of every command that asks for a report."""
    return [
        (name, action.option_strings[0])
        for name in COMMANDS
        for action in parser_of(name)._actions
        if isinstance(action, Report)
    ]


def refused(words: list[str], seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether a command line is refused before anything is read, with a reason and what to type."""
    assert main(words) == 2
    said = capsys.readouterr()
    assert seen in said.err and "fix: " in said.err
    assert said.out == ""


def test_every_command_that_writes_a_file_has_the_same_form() -> None:
    """No other option of a command names a file that is written."""
    for name in COMMANDS:
        for action in parser_of(name)._actions:
            names = {*action.option_strings}
            written = {"--json", "--sarif", "--html", "--perfetto", "--png", "--svg", "--csv", "--report"}
            assert not names & written or isinstance(action, Report), (name, names)
            if names & {"--output", "--timeline"} and name != "check":
                taken = {(name, each) for each in names} & TAKEN
                assert taken or isinstance(action, (Report, Output)), (name, names)


@pytest.mark.parametrize(("command", "option"), options())
def test_the_next_word_is_no_file(command: str, option: str) -> None:
    parser = parser_of(command)
    action = parser._option_string_actions[option]
    assert isinstance(action, Report) and f"{option}[=FILE]" in parser.format_help()
    assert "--force" in parser._option_string_actions


@pytest.mark.parametrize("option", ["--json", "--sarif", "--html", "--js"])
@pytest.mark.parametrize("command", ["check", "migrate"])
def test_a_script_behind_the_option_is_read(
    tree: Path, command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([command, option, "train.py", "other.py"])
    assert Path("train.py").read_text() == Path("other.py").read_text() == HVD
    assert "train.py" in capsys.readouterr().out


@pytest.mark.parametrize("command", QUICK)
def test_a_report_on_standard_output_has_it_to_itself(
    tree: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--json"], ["--json", "-"], ["--json=-"]):
        main([command, *words, *QUICK[command]])
        json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", QUICK)
def test_a_report_is_replaced_by_the_next_one_and_nothing_else_is(
    tree: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main([command, *QUICK[command], "--json=report.json"]) in (0, 1), capsys.readouterr().err
        assert is_report(Path("report.json"))
    capsys.readouterr()
    refused([command, *QUICK[command], "--json=results.json"], "no earlier report", capsys)
    assert Path("results.json").read_text() == '{"accuracy": 0.9}\n'
    assert main([command, *QUICK[command], "--json=results.json", "--force"]) in (0, 1)
    assert is_report(Path("results.json"))


@pytest.mark.parametrize(
    ("command", "option"), [("migrate", "--sarif"), ("migrate", "--html"), ("timeline", "--perfetto")]
)
def test_other_formats_are_known_again(tree: Path, command: str, option: str) -> None:
    for _ in range(2):
        assert main([command, *QUICK[command], f"{option}=report"]) in (0, 1)
        assert is_report(Path("report"))


SOURCES = [
    "new.py",
    "NEW.YAML",
    "job.sh",
    "nb.ipynb",
    "README.md",
    "kernel.cu",
    "Dockerfile",
    "train",
    "link.json",
]


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_never_replaced(tree: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name, by its first line, and by what a link leads to; also with --force."""
    Path("train").write_text("#!/usr/bin/env python\n")
    Path("link.json").symlink_to("other.py")
    os.mkfifo("Makefile")
    for place in (name, "Makefile"):
        refused(["check", "train.py", f"--json={place}", "--force"], "a source file", capsys)
    assert Path("other.py").read_text() == HVD


def test_what_the_command_reads_is_never_replaced(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.link("timeline.json", "hard.json")
    for place in ("timeline.json", "hard.json", str(tree / "timeline.json")):
        for option in ("--json", "--html", "--perfetto"):
            words = ["timeline", "timeline.json", f"{option}={place}", "--force"]
            refused(words, "the command reads this file", capsys)
    refused(["explain", "--log", "job.log", "--json=job.log", "--force"], "the command reads", capsys)
    Path("hosts").write_text("localhost slots=2\n")
    words = ["bench", "--hostfile", "hosts", "--json=hosts", "--force"]
    refused(words, "the command reads this file", capsys)


def test_files_that_options_name_alone_are_kept_as_well(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["tune", "mlp", "-o", "train.py"], "a source file", capsys)
    refused(["tune", "mlp", "-o", "results.json"], "no earlier report", capsys)
    Path("-").write_text("mine")
    refused(["tune", "mlp", "-o", "-"], "no earlier report", capsys)
    refused(["run", "--timeline", "train.py", "python", "train.py"], "a source file", capsys)
    refused(["run", "--timeline", "results.json", "python", "train.py"], "no earlier report", capsys)
    refused(["verify", "train.py", "--json=other.py"], "a source file", capsys)
    Path("hvdkit-tune.toml").write_text("mine = true\n")
    refused(["tune", "mlp"], "hvdkit-tune.toml: the file exists", capsys)
    assert Path("hvdkit-tune.toml").read_text() == "mine = true\n"


@pytest.mark.parametrize("words", [["--json", "hvdkit.json"], ["--js", "report.json"]])
def test_the_form_of_other_tools_is_named(
    tree: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not there, or an earlier report, can only be meant as the place."""
    refused(["check", "train.py", *words], f"fix: --json={words[1]}", capsys)
    main(["check", "train.py", f"--json={words[1]}"])
    capsys.readouterr()
    refused(["check", *words, "train.py"], f"fix: --json={words[1]}", capsys)
    with pytest.raises(SystemExit):
        main(["check", "train.py", "--json", "results.json"])
    assert "did you mean --json=results.json?" in capsys.readouterr().err


def test_an_earlier_result_passes_for_none_of_a_run_that_failed(tree: Path) -> None:
    Path("result.json").symlink_to("kept.json")
    for _ in range(2):
        assert main(["explain", "--log", "job.log", "--json=result.json"]) == 1
        assert is_report(Path("kept.json"))
        assert main(["verify", "none.py", "train.py", "--json=result.json"]) == 2
        assert Path("result.json").is_symlink() and not Path("kept.json").exists()


def test_two_reports_have_two_places(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("here").symlink_to(".")
    refused(["timeline", "timeline.json", "--json", "--html"], "are the same place", capsys)
    words = ["timeline", "timeline.json", "--json=a", "--perfetto=here/a"]
    refused(words, "are the same place", capsys)


@pytest.mark.parametrize(
    "text",
    [
        '{"result": "built", "seconds": 3}',
        '{"holds": true}',
        '{"runs": [{"tool": {"driver": {"name": "ruff"}}}]}',
        '{"traceEvents": []}',
        "[]",
        '[{"id": 1}]',
        "[" * 100_000,
        "9" * 5000,
        "<!doctype html>\n<title>hvdkit</title>",
        "# Written by me",
        "\x89PNG\r\n\x1a\n",
    ],
    ids=lambda text: text[:20],
)
def test_a_file_of_somebody_else_is_no_report(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    assert not is_report(tmp_path / "x")


def test_a_recording_of_a_job_is_no_report_and_an_empty_file_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert is_report(tmp_path / "x") and is_timeline(tmp_path / "x")
    assert is_timeline(TIMELINE) and not is_report(TIMELINE)


def test_the_first_dashes_belong_to_the_script() -> None:
    from hvdkit.reports import spelled

    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action=Report, help="x")
    words = ["--json", "a", "--json", "-", "--", "--json", "-"]
    assert spelled(parser, words) == ["--json=-", "a", "--json=-", "--", "--json", "-"]
