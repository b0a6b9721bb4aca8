"""Generated programs: whatever the spelling and the layout, hvdkit does no harm and plans the same.

Programs are put together from ways of importing, wrapping, guarding and stepping, and then written with the
layouts that files really have.
"""

from __future__ import annotations

import ast
import difflib
import io
import tempfile
import tokenize
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan, Plan

IMPORTS = (
    ("import torch.nn as nn", "nn.parallel.DistributedDataParallel"),
    ("from torch.nn.parallel import DistributedDataParallel as DDP", "DDP"),
    ("from torch.nn import parallel", "parallel.DistributedDataParallel"),
    ("import torch.nn.parallel.distributed as p", "p.DistributedDataParallel"),
)
DIST = (
    ("import torch.distributed as dist", "dist"),
    ("from torch import distributed", "distributed"),
    ("import torch.distributed", "torch.distributed"),
)
WRAPS = (
    "{m} = {ddp}({m})",
    "{m} = {ddp}({m}, device_ids=[{r}])",
    "{m} = {ddp}(\n    {m},  # the model\n    device_ids=[{r}],\n)",
    "{m} = {ddp}(module={m}, find_unused_parameters=True)",
    "{m}, {x} = {ddp}({m}), 1",
    "if {dist}.is_initialized():\n    {m} = {ddp}({m})",
    "if {dist}.is_initialized(): {m} = {ddp}({m})",
    "{x} = 0; {m} = {ddp}({m}); {x} = 1;",
)
GUARDS = ("if {r} == 0:", "if not {r}:", "if {dist}.get_rank() == 0:", "with torch.no_grad():")
NOISE = (
    "",
    "# a comment: größer als 長い",
    "{x} = 1; {y} = 2",
    "{x} = 1 + \\\n    2",
    '{x} = f"{{torch.__version__}} {{1!r:>4}}"',
    '{x} = """DDP(\n  model)  # not a comment\n"""',
    "match torch.__version__.split('.'):\n    case [a, *_]:\n        {x} = a\n    case _:\n        pass",
    "@torch.no_grad()\n# about it\ndef {y}(a, /, b=1, *, c=2):\n    return a",
    "\f",
    "{x}: int = 3  # type: ignore",
)
PROGRAM = """\
import torch
{noise0}
{imports}
{importd}


def main():
    {dist}.init_process_group("nccl")  # start
    {r} = {dist}.get_rank()
    torch.cuda.set_device({r})
    {m} = torch.nn.Linear(4, 4).cuda()
{wrap}
    {o} = torch.optim.SGD({m}.parameters(), lr=0.1)
{noise1}
    for {x} in range(3):
        {m}(torch.ones(2, 4).cuda()).sum().backward()
        {o}.step()  # step
        {o}.zero_grad()
    {guard}
        torch.save({m}.state_dict(), "m.pt")  # keep
    {dist}.destroy_process_group()


if __name__ == "__main__":
    main()
{noise2}
"""
NAMES = (
    {"m": "model", "o": "optimizer", "r": "rank", "x": "epoch", "y": "helper"},
    {"m": "b", "o": "a", "r": "model", "x": "optimizer", "y": "rank"},
    {"m": "größe", "o": "step", "r": "loader", "x": "state", "y": "hvd_"},
)
LAYOUTS = ("plain", "crlf", "cr at one line", "tabs", "bom", "no last newline")


def indented(text: str, by: str) -> str:
    """Lines moved in, those inside a string left where they are."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno:
            inside.update(range(node.lineno + 1, node.end_lineno + 1))
    lines = text.split("\n")
    return "\n".join(
        by + line if i not in inside and line.strip() else line for i, line in enumerate(lines, 1)
    )


programs = st.fixed_dictionaries(
    {
        "imports": st.sampled_from(IMPORTS),
        "importd": st.sampled_from(DIST),
        "wrap": st.sampled_from(WRAPS),
        "guard": st.sampled_from(GUARDS),
        "noise0": st.sampled_from(NOISE),
        "noise1": st.sampled_from(NOISE),
        "noise2": st.sampled_from(NOISE),
    }
)


def spelled(parts: dict[str, object], names: dict[str, str], layout: str = "plain") -> bytes:
    """The program's bytes."""
    (imports, ddp), (importd, dist) = parts["imports"], parts["importd"]  # type: ignore[misc]
    words = {**names, "ddp": ddp, "dist": dist}
    filled = {key: str(parts[key]).format(**words) for key in ("wrap", "guard", "noise0", "noise1", "noise2")}
    for key in ("wrap", "noise1"):
        filled[key] = indented(filled[key], "    ")
    text = PROGRAM.format(**words, **filled, imports=imports, importd=importd)
    if layout == "tabs":
        text = text.replace("    ", "\t")
    if layout == "no last newline":
        text = text.rstrip()
    if layout == "crlf":
        text = text.replace("\n", "\r\n")
    if layout == "cr at one line":
        text = text.replace("# start\n", "# start\r")
    return text.encode("utf-8-sig" if layout == "bom" else "utf-8")


def planned(raw: bytes) -> tuple[Plan, FilePlan]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.py")
        path.write_bytes(raw)
        plan = make_plan([path], Options())
    assert not plan.unreadable
    return plan, plan.files[0]


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


quick = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@quick
@given(programs, st.sampled_from(NAMES), st.sampled_from(LAYOUTS))
def test_no_harm(parts: dict[str, object], names: dict[str, str], layout: str) -> None:
    raw = spelled(parts, names, layout)
    _, file = planned(raw)
    assert not file.problem
    assert file.before.encode(file.encoding) == raw
    ast.parse(file.after.lstrip("\ufeff"))
    again = planned(file.after.encode(file.encoding))[1]
    assert again.after == file.after
    kept = [c for c in comments(file.after.lstrip("\ufeff")) if "hvdkit: TODO" not in c]
    gone = {"# start", "# the model"}  # of statements and arguments that went
    assert [c for c in comments(file.before.lstrip("\ufeff")) if c not in gone] == [
        c for c in kept if c not in gone
    ]


@quick
@given(programs, st.sampled_from(LAYOUTS))
def test_untouched_lines_keep_every_byte(parts: dict[str, object], layout: str) -> None:
    """A new line ends as its file's lines do, and what is neither new nor gone is the same."""
    _, file = planned(spelled(parts, NAMES[0], layout))
    before, after = (text.splitlines(keepends=True) for text in (file.before, file.after))
    ends = {line[len(line.rstrip("\r\n")) :] for line in before}
    assert {line[len(line.rstrip("\r\n")) :] for line in after} <= ends
    noise = [line for line in before if "größer" in line or "not a comment" in line or "1!r" in line]
    same = [line for line in difflib.ndiff(before, after) if line.startswith("  ")]
    assert all("  " + line in same for line in noise)


@quick
@given(programs, st.sampled_from(NAMES[1:]))
def test_names_decide_nothing(parts: dict[str, object], names: dict[str, str]) -> None:
    def told(plan: Plan) -> list[tuple[str, int, str]]:
        return [(finding.rule, finding.line, finding.applicability.value) for finding in plan.findings]

    first, second = (planned(spelled(parts, chosen))[0] for chosen in (NAMES[0], names))
    assert told(first) == told(second)
    assert bool(first.changed) == bool(second.changed)
