"""The examples of the rules as programs: those that run are migrated, run, and held to what is said."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
import re
import shutil
from pathlib import Path

from truth.claims import Claims, Fault, false_yes, migrated, needless
from truth.held import faults_of_any
from truth.runs import LAYOUTS, Job
from truth.warm import ROOT, TIMEOUT, Warm

FOLDER = ROOT / "tests" / "migrate" / "examples"
FRAGMENT = "a fragment: a name is not defined"
LIMIT = 30.0  # seconds of one run
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
LAYOUT = "two hosts"


@dataclasses.dataclass(frozen=True)
class Example:
    """One example. name: of its file; text: the program, without the header that says what the rule does."""

    name: str
    text: str

    @property
    def distributed(self) -> bool:
        """Whether torch starts it as several processes."""
        return "torch.distributed" in self.text


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of an example. why_not: why its original does not run, and nothing was held; else empty."""

    example: Example
    why_not: str
    claims: Claims | None = None
    faults: tuple[Fault, ...] = ()
    lies: tuple[Fault, ...] = ()
    needless: tuple[str, ...] = ()


def examples() -> list[Example]:
    """All programs of one file beside the tests, and of several the one that is started."""
    found = []
    for path in sorted(FOLDER.glob("HVD*/*.py")):
        if not path.name.endswith(".after.py"):
            _, _, text = path.read_text().partition("\n\n")
            found.append(Example(f"{path.parent.name}/{path.name}", text))
    return found


def undefined(text: str) -> set[str]:
    """The names that a program reads and gives no value to anywhere."""
    tree = ast.parse(text)
    read: set[str] = set()
    given = {*dir(builtins), "__file__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else given).add(node.id)
        elif isinstance(node, DEFINITIONS) and node.name:
            given.add(node.name)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.alias):
            given.add((node.asname or node.name).partition(".")[0])
    return read - given


def tried(warm: Warm, example: Example, folder: Path) -> Outcome:
    """Run the original of an example, migrate it, run that, and hold what was said against what was seen."""
    if undefined(example.text):
        return Outcome(example, FRAGMENT)
    before, after, out = folder / "before", folder / "after", folder / "seen"
    for place in (before, out):
        place.mkdir(parents=True)
    (before / "train.py").write_text(example.text)
    shutil.copytree(before, after)
    command = ["rank", str(out / "before.json"), "2", "train.py"]
    start = warm.original if example.distributed else warm.run
    code, output = start(command, before, LIMIT)
    if code:
        return Outcome(example, why_not(code, output))
    claims = migrated(warm, after, out / "plan.json")
    if claims.verdict == "refused":
        return Outcome(example, "", claims)
    command = ["rank", str(out / "after.json"), "1", "train.py"]
    code, output = warm.job(LAYOUTS[LAYOUT], command, after, LIMIT)
    ranks = {int(path.suffixes[0][1:]): json.loads(path.read_text()) for path in out.glob("after.[0-9].json")}
    found = faults_of_any(Job(LAYOUT, code, 0, 0, ranks, output[-3000:]))
    # What does not train makes no claim on how it would.
    lies = [fault for fault in false_yes(claims, found) if claims.rows]
    return Outcome(example, "", claims, tuple(found), tuple(lies), tuple(needless(claims, found)))


def why_not(code: int, output: str) -> str:
    """Why an original does not run, without what differs from one to the other."""
    if code == TIMEOUT:
        return "it does not end"
    errors = re.findall(r"^(\w*(?:Error|Exception|Exit|Interrupt))\b:? ?(.*)$", output, re.MULTILINE)
    if not errors:
        return "it ends with an exit code of its own"
    kind, text = errors[0]
    if kind == "NameError":
        return FRAGMENT
    if kind in ("ModuleNotFoundError", "ImportError"):
        return "it imports what is not here"
    if kind == "FileNotFoundError":
        return "it reads a file that is not here"
    if "CUDA" in text or "cuda" in text or "NCCL" in text:
        return "it needs a GPU"
    return f"an error of its own: {kind}"
