"""Give `hvdkit verify` wrong migrations and right ones, and print which of them it takes for what they are.

    python benchmarks/mutants.py [NAME...]      those whose PROGRAM/NAME holds one of the texts; default: all

`migrations/PROGRAM` has an original, right migrations of it, and `mutants.toml`: right variants and mistakes, each as
replacements in a right migration, with what verify should name. They are run one after another, and each result is
written to `mutants.json` at once: what is there for the same scripts is not run again without --again.
docs/mutants.md is made from that file. Exit code 1 when a wrong one was accepted or a right one refused.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
MIGRATIONS = HERE / "migrations"
RESULTS = HERE / "mutants.json"
PAGE = HERE.parent / "docs" / "mutants.md"

NAMED, OTHER, FALSE_YES = "refused and named", "refused, not named", "false yes"
RIGHT, FALSE_NO = "agrees", "false no"
OUTCOMES = {
    NAMED: "a wrong migration, refused with its cause",
    OTHER: "a wrong migration, refused without its cause or with a different one",
    FALSE_YES: "a wrong migration, accepted",
    RIGHT: "a right migration, accepted",
    FALSE_NO: "a right migration, refused",
}
# What verify prints of why it refuses.
REASONS = re.compile(r"likely cause: |fails  |first difference: |differ: |does not hold: |hvdkit verify: ")

HEAD = """\
# Wrong migrations, and whether verify refuses them

Each program below was migrated by hand, then broken by one mistake at a time, as people and codemods make them. Every
script went through `hvdkit verify ORIGINAL MIGRATED --np 2`, and what it said is here as it came out: a wrong migration
that is accepted (a *false yes*) or a right one that is refused (a *false no*) is a fault of verify. Made by
`python benchmarks/mutants.py`; the programs are in [benchmarks/migrations](../benchmarks/migrations).

"""


@dataclass(frozen=True)
class Trial:
    """One migration to judge. name: PROGRAM/NAME. what: the mistake, or what is special about a right one. cause:
    what the reason for refusing it must match; none where it is right. text: the migrated script."""

    name: str
    what: str
    cause: str | None
    text: str
    options: tuple[str, ...]
    tensorflow: bool

    @property
    def folder(self) -> Path:
        """Where the original lies."""
        return MIGRATIONS / self.name.partition("/")[0]

    @property
    def digest(self) -> str:
        """Of everything that a result depends on, hvdkit and its environment aside."""
        originals = [path.read_text("utf-8") for path in sorted(self.folder.glob("*.py"))]
        return hashlib.sha256(json.dumps([*originals, self.text, self.options]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """What came of a trial. said: the lines that say why it was refused, or the verdict of what was accepted."""

    outcome: str
    said: str
    seconds: float
    digest: str


class PatchError(Exception):
    """A replacement does not match exactly once."""


def trials() -> Iterator[Trial]:
    """All of them, program by program, right ones first. Raises PatchError."""
    for listed in sorted(MIGRATIONS.glob("*/mutants.toml")):
        program = listed.parent.name
        table = tomllib.loads(listed.read_text("utf-8"))
        tensorflow = table.get("tensorflow", False)
        for entry in [*table["right"], *table["mutant"]]:
            name = f"{program}/{entry['name']}"
            text = (listed.parent / entry.get("file", "right.py")).read_text("utf-8")
            for old, new in entry.get("edits", ()):
                if text.count(old) != 1:
                    raise PatchError(f"{name}: {text.count(old)} times in the script: {old!r}")
                text = text.replace(old, new)
            options = ("--np", "2", "--steps", str(table["steps"]), *table.get("options", ()), *entry.get("options", ()))
            what = entry["mistake"] if "mistake" in entry else entry["what"]
            yield Trial(name, what, entry.get("cause"), text, options, tensorflow)


def run(trial: Trial, python: str, scratch: Path) -> Result:
    """Run verify on one trial in a folder of its own."""
    folder = scratch / trial.name.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(trial.folder, folder, ignore=shutil.ignore_patterns("right*.py", "mutants.toml", "__pycache__"))
    (folder / "migrated.py").write_text(trial.text, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "NO_COLOR": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if (folder / "prepare.py").exists():
        subprocess.run([python, "prepare.py"], cwd=folder, env=environment, check=True)
    command = [python, "-m", "hvdkit", "verify", "original.py", "migrated.py", *trial.options]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = round(time.perf_counter() - began, 1)
    (folder / "output").write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode == 0:
        said = done.stdout.splitlines()[-1]
    elif done.returncode == 1:
        said = "\n".join(line for line in done.stdout.splitlines() if REASONS.match(line))
    else:
        # Without the progress; what a script that failed printed last is part of the reason.
        said = done.stderr[max(done.stderr.find("hvdkit verify: "), 0) :].strip()
    return Result(judged(trial, done.returncode, said), said, seconds, trial.digest)


def judged(trial: Trial, code: int, said: str) -> str:
    """The outcome. What could not be run was refused, too, and has to be named as well."""
    if trial.cause is None:
        return RIGHT if code == 0 else FALSE_NO
    if code == 0:
        return FALSE_YES
    return NAMED if re.search(trial.cause, said, re.IGNORECASE) else OTHER


def matrix(outcomes: dict[str, str]) -> str:
    """A row for each program and one for all: how many trials had each outcome."""
    programs = dict.fromkeys(name.partition("/")[0] for name in outcomes)
    rows = [(program, [o for name, o in outcomes.items() if name.startswith(f"{program}/")]) for program in programs]
    rows.append(("all", list(outcomes.values())))
    lines = [f"| program | {' | '.join(OUTCOMES)} |", "| --- |" + " ---: |" * len(OUTCOMES)]
    for program, found in rows:
        counts = Counter(found)
        lines.append(f"| {program} | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES)} |")
    return "\n".join(lines) + "\n"


def page(tried: dict[Trial, Result]) -> str:
    """The page in docs: the matrix, what its columns mean, and a table of every trial for each program."""
    text = HEAD + matrix({trial.name: result.outcome for trial, result in tried.items()})
    text += "\n" + "".join(f"- **{outcome}**: {meaning}\n" for outcome, meaning in OUTCOMES.items())
    program = ""
    for trial, result in tried.items():
        if trial.folder.name != program:
            program = trial.folder.name
            text += f"\n## {program}\n\n| migration | what it is | outcome | what verify says |\n| --- | --- | --- | --- |\n"
        cells = (trial.name.partition("/")[2], trial.what, result.outcome, shown(result.said))
        text += f"| {' | '.join(cells)} |\n"
    return text


def shown(said: str) -> str:
    """One line of it: the cause where one is named."""
    lines = said.splitlines() or [""]
    line = next((line for line in lines if line.startswith("likely cause: ")), lines[-1 if len(lines) < 4 else 0])
    line = line.removeprefix("likely cause: ").replace("|", "\\|")
    return line if len(line) <= 160 else line[:157] + "..."


def kept() -> dict[str, Result]:
    """Results of earlier runs, by name."""
    if not RESULTS.exists():
        return {}
    return {name: Result(**fields) for name, fields in json.loads(RESULTS.read_text("utf-8")).items()}


def main() -> int:
    """Run what is asked for, keep the results, print the matrix, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true", help="run those that have a result, too")
    parser.add_argument("--work", type=Path, help="a folder for the scripts and what verify printed, which is kept")
    parser.add_argument("--tensorflow-python", metavar="PYTHON", help="of an environment with TensorFlow and Horovod")
    parser.add_argument("--json", action="store_true", help="print the results instead of the matrix")
    asked = parser.parse_args()
    wanted = [trial for trial in trials() if not asked.names or any(name in trial.name for name in asked.names)]
    with tempfile.TemporaryDirectory() as temporary:
        for trial in wanted:
            python = asked.tensorflow_python if trial.tensorflow else sys.executable
            before = kept().get(trial.name)
            if python is None or (before and before.digest == trial.digest and not asked.again):
                continue
            result = run(trial, python, asked.work or Path(temporary))
            # Read again: a run of other names may have written.
            results = {**kept(), trial.name: result}
            RESULTS.write_text(json.dumps({n: asdict(r) for n, r in results.items()}, indent=1) + "\n", "utf-8")
            counts = Counter(results[t.name].outcome for t in wanted if t.name in results)
            sofar = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
            print(f"{trial.name}: {result.outcome} ({result.seconds:.0f} s). {sofar}", file=sys.stderr)
    results = kept()
    known = {trial: results[trial.name] for trial in trials() if trial.name in results}
    PAGE.write_text(page(known), "utf-8")
    chosen = {trial.name: known[trial] for trial in wanted if trial in known}
    if asked.json:
        print(json.dumps({name: asdict(result) for name, result in chosen.items()}, indent=1))
    else:
        print(matrix({name: result.outcome for name, result in chosen.items()}), end="")
        print("".join(f"{n}: {r.outcome}: {shown(r.said)}\n" for n, r in chosen.items() if r.outcome in (OTHER, FALSE_YES, FALSE_NO)), end="")
        missing = len(wanted) - len(chosen)
        if missing:
            print(f"{missing} were not run: they need --tensorflow-python")
    return int(any(result.outcome in (FALSE_YES, FALSE_NO) for result in chosen.values()))


if __name__ == "__main__":
    sys.exit(main())
