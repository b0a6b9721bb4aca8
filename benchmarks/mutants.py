"""Give `hvdkit verify` wrong migrations and right ones, and print which of them it takes for what they are.

    python benchmarks/mutants.py [NAME...]      those whose PROGRAM/NAME holds one of the texts; default: all

`migrations/PROGRAM` has an original, right migrations of it, and `mutants.toml`: right variants and mistakes,
each as replacements in a right migration, with what verify should name. They are run one after another, and
each result is written to `mutants.json` at once: what is there for the same scripts is not run again without
--again. docs/mutants.md is made from that file. Exit code 1 when a wrong one was accepted or a right one
refused.
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

sys.path.insert(0, str(Path(__file__).parent))

from mutation.results import section

HERE = Path(__file__).parent
MIGRATIONS = HERE / "migrations"
RESULTS = HERE / "mutants.json"
PAGE = HERE.parent / "docs" / "mutants.md"

NAMED, OTHER, FALSE_YES = "refused and named", "refused, not named", "false yes"
RIGHT, FALSE_NO = "agrees", "false no"
NOT_RUN = "not run"
OUTCOMES = {
    NAMED: "a wrong migration, refused with its cause",
    OTHER: "a wrong migration, refused without its cause or with a different one",
    FALSE_YES: "a wrong migration, accepted",
    RIGHT: "a right migration, accepted",
    FALSE_NO: "a right migration, refused",
    NOT_RUN: "no result yet, or one of other scripts",
}
OPTIONS = ("--np", "2")
# What verify prints of why it refuses.
REASONS = re.compile(r"likely cause: |fails  |first difference: |differ: |does not hold: |hvdkit verify: ")

HEAD = """\
# Wrong migrations, and whether verify refuses them

Each program below was migrated by hand, then broken by one mistake at a time, as people and codemods make
them. Every script went through `hvdkit verify ORIGINAL MIGRATED --np 2`, and the result is printed here as it
is: a wrong migration that is accepted (a *false yes*) or a right one that is refused (a *false no*) is a
fault of verify. Made by `python benchmarks/mutants.py`; the programs are in
[benchmarks/migrations](../benchmarks/migrations).

"""


@dataclass(frozen=True)
class Trial:
    """One migration to judge. name: PROGRAM/NAME. what: the mistake, or what is special about a right one.
    cause: what the reason for refusing it must match; none where it is right. text: the migrated script."""

    name: str
    what: str
    cause: str | None
    text: str
    options: tuple[str, ...]
    tensorflow: bool

    @property
    def program(self) -> str:
        """The original's folder."""
        return self.name.partition("/")[0]

    @property
    def given(self) -> list[Path]:
        """The original, and the script that makes what both scripts read, if there is one."""
        paths = [MIGRATIONS / self.program / name for name in ("original.py", "prepare.py")]
        return [path for path in paths if path.exists()]

    @property
    def digest(self) -> str:
        """Of everything that a result depends on, hvdkit and its environment aside."""
        originals = [path.read_text("utf-8") for path in self.given]
        return hashlib.sha256(json.dumps([*originals, self.text, self.options]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """What came of a trial. said: the lines that say why it was refused, or the verdict on what was accepted.
    digest: the trial's."""

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
            options = (*OPTIONS, "--steps", str(table["steps"]), *table.get("options", ()))
            what = entry["mistake"] if "mistake" in entry else entry["what"]
            yield Trial(name, what, entry.get("cause"), text, options, tensorflow)


def run(trial: Trial, python: str, scratch: Path, timeout: str) -> Result:
    """Run verify on one trial in a folder of its own. timeout: seconds without a step, after which ranks that
    wait for each other are given up."""
    folder = scratch / trial.name.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in trial.given:
        shutil.copy(path, folder)
    (folder / "migrated.py").write_text(trial.text, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "NO_COLOR": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if (folder / "prepare.py").exists():
        subprocess.run([python, "prepare.py"], cwd=folder, env=environment, check=True)
    command = [
        python,
        "-m",
        "hvdkit",
        "verify",
        "original.py",
        "migrated.py",
        "--timeout",
        timeout,
        *trial.options,
    ]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = round(time.perf_counter() - began, 1)
    (folder / "output").write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{trial.name}: verify was ended, exit code {done.returncode}")
    if done.returncode == 0:
        said = done.stdout.splitlines()[-1]
    elif done.returncode == 1:
        said = "\n".join(line for line in done.stdout.splitlines() if REASONS.match(line))
    else:
        # Without the progress; what a script that failed printed last is part of the reason.
        said = done.stderr[max(done.stderr.find("hvdkit verify: "), 0) :].strip()
    outcome = judged(trial, done.returncode, said)
    return Result(outcome, without_paths(said, folder, python), seconds, trial.digest)


def without_paths(said: str, folder: Path, python: str) -> str:
    """What verify said, with the paths of this machine replaced: results are compared between machines.

    folder: the trial's, in which scripts are named by their file names. python: that verify ran under.
    """
    # The environment may be inside hvdkit's folder: the longer path first.
    environment = Path(shutil.which(python) or python).absolute().parents[1]
    places = {
        f"{folder.absolute()}{os.sep}": "",
        str(environment): "ENVIRONMENT",
        str(HERE.parent.absolute()): "HVDKIT",
    }
    for path in sorted(places, key=len, reverse=True):
        said = said.replace(path, places[path])
    return said


def judged(trial: Trial, code: int, said: str) -> str:
    """The outcome. A migration that could not be run was refused, too, and has to be named as well; an
    original that could not be run says nothing of it."""
    if code == 2 and "the original script" in said:
        return NOT_RUN
    if trial.cause is None:
        return RIGHT if code == 0 else FALSE_NO
    if code == 0:
        return FALSE_YES
    return NAMED if re.search(trial.cause, said, re.IGNORECASE) else OTHER


def matrix(tried: dict[Trial, Result]) -> str:
    """A row for each program and one for all: how many trials had each outcome."""
    lines = [f"| program | {' | '.join(OUTCOMES)} |", "| --- |" + " ---: |" * len(OUTCOMES)]
    for program in (*dict.fromkeys(trial.program for trial in tried), ""):
        counts = Counter(result.outcome for trial, result in tried.items() if program in ("", trial.program))
        cells = (program or "all", *(str(counts[outcome]) for outcome in OUTCOMES))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(tried: dict[Trial, Result]) -> str:
    """The page in docs: the matrix, what its columns mean, each trial by program, and those made by rules."""
    text = HEAD + matrix(tried) + "\n"
    text += "".join(f"- **{outcome}**: {meaning}\n" for outcome, meaning in OUTCOMES.items())
    program = ""
    for trial, result in tried.items():
        if trial.program != program:
            program = trial.program
            text += f"\n## {program}\n\n| migration | what it is | outcome | what verify says |\n"
            text += "| --- | --- | --- | --- |\n"
        cells = (trial.name.partition("/")[2], trial.what, result.outcome, reason(result))
        text += f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"
    return text + "\n" + section()


def reason(result: Result) -> str:
    """One line of what verify said: the cause where one is named, else the verdict or the error."""
    lines = result.said.splitlines() or [""]
    causes = [line.removeprefix("likely cause: ") for line in lines if line.startswith("likely cause: ")]
    verdicts = [line for line in lines if line.startswith(("differ: ", "does not hold: "))]
    line = [*causes, *verdicts, lines[0].removeprefix("hvdkit verify: ")][0]
    return line if len(line) <= 200 else f"{line[:197]}..."


def results_of(listed: list[Trial]) -> dict[Trial, Result]:
    """What earlier runs kept; NOT_RUN for a trial without a result, or with one of other scripts."""
    raw = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results = {name: Result(**fields) for name, fields in raw.items()}
    nothing = Result(NOT_RUN, "", 0.0, "")
    found = {trial: results.get(trial.name, nothing) for trial in listed}
    return {trial: found[trial] if found[trial].digest == trial.digest else nothing for trial in listed}


def keep(tried: dict[Trial, Result]) -> None:
    """Write the results of all trials, and the page of them."""
    RESULTS.write_text(as_json(tried), "utf-8")
    PAGE.write_text(page(tried), "utf-8")


def as_json(tried: dict[Trial, Result]) -> str:
    """As `results_of` reads them."""
    known = {trial.name: asdict(result) for trial, result in tried.items() if result.outcome != NOT_RUN}
    return json.dumps(known, indent=1) + "\n"


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true", help="run those that have a result, too")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep scripts and verify's output here")
    parser.add_argument("--tensorflow-python", metavar="PYTHON", help="of an environment with TensorFlow")
    parser.add_argument("--timeout", default="120", metavar="S", help="of verify; more on a busy machine")
    parser.add_argument("--json", action="store_true", help="print the results instead of the matrix")
    return parser.parse_args()


def main() -> int:
    """Run what is asked for, keep the results and the page, print the matrix."""
    asked = arguments()
    listed = list(trials())
    wanted = [trial for trial in listed if not asked.names or any(name in trial.name for name in asked.names)]
    with tempfile.TemporaryDirectory() as temporary:
        for trial in wanted:
            python = asked.tensorflow_python if trial.tensorflow else sys.executable
            if python is None or (results_of([trial])[trial].outcome != NOT_RUN and not asked.again):
                continue
            result = run(trial, python, asked.work or Path(temporary), asked.timeout)
            keep({**results_of(listed), trial: result})  # read again: another may be at work
            counts = Counter(result.outcome for result in results_of(wanted).values())
            so_far = ", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES)
            print(f"{trial.name}: {result.outcome}, {result.seconds:.0f} s ({so_far})", file=sys.stderr)
    keep(results_of(listed))
    chosen = results_of(wanted)
    if asked.json:
        print(as_json(chosen), end="")
    else:
        print(matrix(chosen), end="")
        for trial, result in chosen.items():
            if result.outcome in (OTHER, FALSE_YES, FALSE_NO):
                print(f"{trial.name}: {result.outcome}: {reason(result)}")
    if asked.tensorflow_python is None and any(trial.tensorflow for trial in wanted):
        print("those of TensorFlow need --tensorflow-python to be run", file=sys.stderr)
    return int(any(result.outcome in (FALSE_YES, FALSE_NO) for result in chosen.values()))


if __name__ == "__main__":
    sys.exit(main())
