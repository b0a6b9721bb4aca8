"""hvdkit timeline, on timelines of real jobs with one planted cause each (provoke.py), and on other files."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hvdkit.cli import main
from hvdkit.html import prose
from hvdkit.timeline.causes import causes_of
from hvdkit.timeline.events import read
from hvdkit.timeline.steps import steps_of

PROVOKED = Path(__file__).with_name("provoked")
PLANTED = ("slow-rank", "late-start", "no-fusion", "late-move", "blocking", "slow-link")
NAMES = {"late-move": "no-overlap"}
LATE = {"slow-rank": "rank 1 falls", "late-start": "rank 1 reaches its first gradient"}


@pytest.mark.parametrize("case", PLANTED)
def test_the_planted_cause_comes_first(case: str) -> None:
    timeline, _ = read(PROVOKED / f"{case}.json")
    first = causes_of(steps_of(timeline))[0]
    assert first.name == NAMES.get(case, case)
    assert first.seen.startswith(LATE.get(case, ""))


def test_nothing_is_found_where_nothing_was_planted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(PROVOKED / "plain.json")]) == 0
    assert "nothing in it makes the steps slow" in capsys.readouterr().out


def test_the_figures_of_a_step() -> None:
    timeline, _ = read(PROVOKED / "slow-rank.json")
    assert timeline.ranks == (0, 1)
    for step in steps_of(timeline):
        rank, behind, begun = step.late()
        assert (rank, len(step.gradients), len(step.blocking)) == (1, 10, 0)
        assert step.size == 5 * (64 * 64 + 64) * 4
        # The last rank takes 20 ms longer for each of five layers, and is behind by that when it ends.
        assert behind == pytest.approx(0.1, rel=0.5)
        assert begun < behind / 2
        assert step.duration > behind


def test_what_a_cached_response_hides_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    main(["timeline", str(PROVOKED / "cached.json")])
    assert "the response cache leaves the ranks out" in capsys.readouterr().out


def test_a_timeline_that_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROVOKED / "late-start.json").read_text()
    cut = tmp_path / "cut.json"
    cut.write_text(text[: len(text) * 9 // 10])
    assert main(["timeline", str(cut), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["causes"][0]["name"] == "late-start"
    assert not found["complete"]
    assert any("the file has no end" in each for each in found["unknown"])


def test_the_trace_is_whole_and_names_ranks_and_steps(tmp_path: Path) -> None:
    text = (PROVOKED / "late-start.json").read_text()
    cut, trace = tmp_path / "cut.json", tmp_path / "trace.json"
    cut.write_text(text[: len(text) // 2])
    main(["timeline", str(cut), f"--perfetto={trace}"])
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["name"] for event in events if event["ph"] == "i"} == {"rank 0 is ready", "rank 1 is ready"}
    steps = [event for event in events if event["ph"] == "X"]
    assert steps
    assert all(event["args"]["last rank"] == 1 for event in steps)
    depth: dict[int, int] = {}
    for event in events:
        if event["ph"] in "BE":
            depth[event["pid"]] = depth.get(event["pid"], 0) + (1 if event["ph"] == "B" else -1)
            assert depth[event["pid"]] >= 0
    assert not any(depth.values())


NONE = {
    "empty": (b"", "has no operation of Horovod"),
    "another format": (b'{"traceEvents": []}', "has no operation of Horovod"),
    "another list": (
        b'[1, [2], {"ph": "B"}, {"ph": "E", "pid": 1, "ts": "x"}]',
        "has no operation of Horovod",
    ),
    "no text": (b"\xff\xfe\x00[{", "has no operation of Horovod"),
    "deep": (b'[{"a": ' + b"[" * 100_000, "has no operation of Horovod"),
}


@pytest.mark.parametrize("kind", NONE)
def test_what_is_no_timeline(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw, seen = NONE[kind]
    (tmp_path / "t.json").write_bytes(raw)
    assert main(["timeline", str(tmp_path / "t.json")]) == 2
    said = capsys.readouterr().err
    assert seen in said
    assert "fix: HOROVOD_TIMELINE" in said


def test_a_timeline_of_the_start_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROVOKED / "plain.json").read_text()
    (tmp_path / "t.json").write_text(text[: text.index("ALLREDUCE")])
    assert main(["timeline", str(tmp_path / "t.json")]) == 1
    assert "a timeline of a few steps of a training is needed" in capsys.readouterr().out


def test_a_trace_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = str(tmp_path / "no" / "trace.json")
    assert main(["timeline", str(PROVOKED / "plain.json"), f"--perfetto={there}"]) == 2
    assert f"there is no folder {Path(there).parent}" in capsys.readouterr().err


@pytest.mark.parametrize("case", [*PLANTED, "plain", "cached"])
def test_the_page_has_the_causes_and_a_row_for_each_rank_and_collective(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "page.html"
    main(["timeline", str(PROVOKED / f"{case}.json"), f"--html={output}"])
    assert capsys.readouterr().out.endswith(f"{output}: open it in a browser\n")
    page = output.read_text()
    timeline, _ = read(PROVOKED / f"{case}.json")
    steps = steps_of(timeline)
    causes = causes_of(steps)
    for cause in causes:
        assert escape(cause.seen) in page and prose(cause.fix) in page
    assert ("nothing was found" in page) == (not causes)
    assert "<title>hvdkit timeline: " in page and "Where nothing is drawn" in page
    (picture,) = re.findall(r'<svg[^>]* aria-label="ranks and collectives.*?</svg>', page, re.DOTALL)
    ElementTree.fromstring(picture)  # whole, and each name escaped
    labels = re.findall(r'text-anchor="end">(.*?)</text>', picture)
    tensors = {each.tensor for each in (*steps[0].gradients, *steps[0].blocking)}
    ranks = set() if case == "cached" else {"rank 0", "rank 1"}
    assert set(labels) == tensors | ranks
    assert "http" not in page


def test_a_timeline_without_steps_has_a_page_that_says_so(tmp_path: Path) -> None:
    events = json.loads((PROVOKED / "plain.json").read_text().rstrip().rstrip(",").removesuffix("]") + "]")
    broadcasts = {e["pid"] for e in events if e.get("name") == "BROADCAST"}
    short, output = tmp_path / "short.json", tmp_path / "page.html"
    short.write_text(json.dumps([event for event in events if event.get("pid") in broadcasts]))
    assert main(["timeline", str(short), f"--html={output}"]) == 1
    assert "none that is repeated in each step" in output.read_text()
    assert "<svg" not in output.read_text()


def test_a_page_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "missing" / "page.html"
    assert main(["timeline", str(PROVOKED / "plain.json"), f"--html={output}"]) == 2
    assert f"there is no folder {output.parent}" in capsys.readouterr().err
