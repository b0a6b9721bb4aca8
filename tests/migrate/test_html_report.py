"""`--html`: one file with verdict, table, and the diff with each finding at its line."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.html import curves, prose

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
print("<script>&")
"""


class Balanced(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "input", "path", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "polyline"):
            assert self.open.pop() == tag


def report(tmp_path: Path, text: str, command: str = "migrate") -> str:
    (tmp_path / "train.py").write_text(text)
    page = tmp_path / "report.html"
    assert main([command, str(tmp_path / "train.py"), f"--html={page}"]) in (0, 1)
    return page.read_text(encoding="utf-8")


def test_verdict_findings_and_rules(tmp_path: Path) -> None:
    page = report(tmp_path, DDP)
    assert 'class="verdict' in page and "init_process_group becomes hvd.init()" in page
    for rule in set(re.findall(r'href="#(HVD\d+)"', page)):
        assert f'<details id="{rule}">' in page
    row = page.index("dist.init_process_group(&quot;gloo&quot;)")
    assert row < page.index(">HVD101<") < page.index("torch.nn.Linear(2, 1))")


def test_one_file_that_loads_nothing(tmp_path: Path) -> None:
    page = report(tmp_path, DDP)
    assert not re.search(r"<script|<link|<img|@import|url\(|src=", page)
    Balanced().feed(page)


def test_what_is_left_is_a_checklist(tmp_path: Path) -> None:
    page = report(tmp_path, DDP + "dist.scatter(torch.ones(1))\n")
    assert "Left to you" in page and '<input type="checkbox">' in page


def test_the_findings_of_check(tmp_path: Path) -> None:
    text = "import horovod.torch as hvd\nimport torch\nhvd.init()\nx = torch.ones(1)\nhvd.allreduce(x)\n"
    assert ">HVD801<" in report(tmp_path, text + "print(x)\n", "check")


def test_a_page_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(DDP)
    main(["migrate", str(tmp_path / "train.py"), "--html"])
    Balanced().feed(capsys.readouterr().out)


def test_curves_span_their_values() -> None:
    drawn = curves([("original", [3.0, 2.0, 1.0]), ("migrated", [3.0, 2.0, 1.5])], "loss")
    assert "60.0,20.0 320.0,110.0 580.0,200.0" in drawn and drawn.count("<polyline") == 2
    assert curves([("one", [1.0])], "loss") == ""


def test_an_option_is_not_broken_between_its_hyphens() -> None:
    assert prose("a < b; --steps 46, or --to-end") == (
        'a &lt; b; <span class="option">--steps 46</span>, or <span class="option">--to-end</span>'
    )
