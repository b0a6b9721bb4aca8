"""What explain says of public reports, against the table of docs/explain-reports.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvdkit.explain import report
from hvdkit.explain.log import parse
from hvdkit.explain.verdict import Verdict, judge

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "explain-reports.md"
ROW = re.compile(r"^\| (\w+) \| \[.*\| `?(\w+)`? \|$", re.MULTILINE)
EXPECTED = dict(ROW.findall(PAGE.read_text()))
# What stands in front of each line where a log was kept by something that knows no ranks.
AROUND = {
    "kubectl_prefix": ("[pod/job-worker-0/main] ", ""),
    "kubectl_timestamps": ("2026-01-01T10:00:00.123456789Z ", ""),
    "kubectl_both": ("[pod/job-launcher-x1/main] 2026-01-01T10:00:00.123456789Z ", ""),
    "collector": ("[2026-01-01 10:00:00] ", ""),
    "crlf": ("", "\r"),
    "colour": ("\x1b[31m", "\x1b[0m"),
}


def explained(log: Path, around: tuple[str, str]) -> Verdict:
    """What is found in a log with something before and after each of its lines."""
    before, after = around
    return judge(parse("\n".join(f"{before}{line}{after}" for line in log.read_text().splitlines())))


def first(verdict: Verdict) -> list[str]:
    return [one.cause.id for one in verdict.found][:1]


def test_the_table_has_each_log() -> None:
    assert set(EXPECTED) == {path.stem for path in (HERE / "reports").glob("*.log")}


@pytest.mark.parametrize("around", [("", ""), *AROUND.values()], ids=["plain", *AROUND])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_report_is_explained_as_the_table_says(name: str, around: tuple[str, str]) -> None:
    verdict = explained(HERE / "reports" / f"{name}.log", around)
    assert first(verdict) == ([] if EXPECTED[name] == "unknown" else [EXPECTED[name]])
    if not verdict.found:
        assert report.text(verdict, "job.log").count("\n    ") == 2, "two commands that tell more"


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_marks_around_lines_change_no_answer(around: tuple[str, str]) -> None:
    """Over the logs of all causes; a single line is too little to tell a mark by."""
    for path in sorted(HERE.glob("logs/*/*.log")):
        if len(path.read_text().splitlines()) > 1:
            assert first(explained(path, around)) == [path.parent.name], path.name
