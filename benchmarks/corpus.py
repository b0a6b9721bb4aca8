"""Run `hvdkit migrate` over folders of repositories and print one row for each, then one for each rule.

    python benchmarks/corpus.py DIR...

Every folder directly below a DIR is a repository. Nothing is written. A row says how many files were seen
and would change with --suggested; how many sites were found; how many of them are rewritten, how many more
with --suggested, held back (their program is refused for another site) and left; how many of the last two
stand in programs that are not data parallelism of their own (sharded, tensor, pipeline or remote parallelism,
or a library that owns the ranks); how many programs there are, how many are refused, and how many
post-conditions of the others hold; whether every output parses and a second run is empty. The commit is read
from a file `.commit` or from git.

A rule's row says how many findings it has in how many programs and repositories, and how many of them are
rewritten, with --suggested included; rules that found nothing have a row, too.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import WAITING, Applicability, Plan, Reported, State
from hvdkit.migrate.rules import all_rules

OTHER_KINDS = ("HVD901", "HVD902", "HVD903")  # the rules that refuse what Horovod has nothing for
KINDS = ("ddp", "single", "tf-single", "tf-strategy")


@dataclass(frozen=True)
class Row:
    """One repository."""

    repository: str
    commit: str
    files: int
    changed: int
    sites: int
    rewritten: int
    suggested: int
    held_back: int
    left: int
    elsewhere: int
    refused: int
    programs: int
    conditions: str
    parses: str
    stable: str


@dataclass
class Fired:
    """How often each rule found something, over all repositories."""

    findings: Counter[str] = field(default_factory=Counter)
    rewritten: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)
    repositories: Counter[str] = field(default_factory=Counter)

    def add(self, plan: Plan, handled: Sequence[Reported]) -> None:
        """Count one repository's findings."""
        self.findings.update(finding.rule for finding in plan.findings)
        self.rewritten.update(finding.rule for finding in handled)
        for program in plan.programs:
            self.programs.update({f.rule for f in plan.findings if f.path in program.files})
        self.repositories.update({finding.rule for finding in plan.findings})


def row(folder: Path, fired: Fired) -> Row:
    """Plan one repository and count."""
    rewritten, _ = split(make_plan([folder], Options()), Applicability.SAFE)
    plan = make_plan([folder], Options(suggested=True))
    handled, held_back = split(plan, Applicability.SAFE, *WAITING)
    fired.add(plan, handled)
    training = [program for program in plan.programs if program.kind in KINDS]
    states = [c.state for program in training if not program.refused for c in program.conditions]
    proven = sum(state is State.PROVEN for state in states)
    asked = sum(state is not State.NONE for state in states)
    return Row(
        folder.name.replace("__", "/"),
        commit(folder)[:10],
        len(plan.files) + len(plan.unreadable) + plan.untouched,
        len(plan.changed),
        len(plan.findings),
        len(rewritten),
        len(handled) - len(rewritten),
        len(held_back),
        len(plan.left),
        elsewhere(plan, held_back),
        sum(bool(program.refused) for program in training),
        len(training),
        f"{proven}/{asked}",
        "yes" if parses(plan) else "NO",
        "yes" if not any(file.problem for file in plan.files) else "NO",
    )


def split(plan: Plan, *kinds: Applicability) -> tuple[list[Reported], list[Reported]]:
    """The findings of these kinds that a plan carries out, and those whose file stays as it is."""
    handled: list[Reported] = []
    held_back: list[Reported] = []
    for file in plan.files:
        for finding in file.findings:
            if finding.applicability in kinds:
                (held_back if finding.edits and not file.changed else handled).append(finding)
    return handled, held_back


def elsewhere(plan: Plan, held_back: Sequence[Reported]) -> int:
    """The sites that are held back or left in programs which Horovod has no parallelism for."""
    refusing = {finding.path for finding in plan.left if finding.rule in OTHER_KINDS}
    programs = [program.files for program in plan.programs if program.refused and refusing & {*program.files}]
    files = {path for paths in programs for path in paths}
    return sum(finding.path in files for finding in (*plan.left, *held_back))


def parses(plan: Plan) -> bool:
    """Whether every changed Python file parses (the engine has asserted it before)."""
    for file in plan.changed:
        if file.path.suffix == ".py":
            try:
                ast.parse(file.after)
            except SyntaxError:
                return False
    return True


def commit(folder: Path) -> str:
    """The commit that a folder holds."""
    note = folder / ".commit"
    if note.is_file():
        return note.read_text().strip()
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "?"


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table with a total."""
    names = [field.name for field in fields(Row)]
    total = sum(row.sites for row in rows)
    handled = sum(row.rewritten + row.suggested for row in rows)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(value) for value in astuple(row)) + " |" for row in rows]
    share = f"{100 * handled / total:.1f} %" if total else "none"
    held_back = sum(row.held_back for row in rows)
    own = total - sum(row.elsewhere for row in rows)
    share_of_own = f"{100 * handled / own:.1f} %" if own else "none"
    lines.append(f"\n{handled} of {total} sites rewritten or suggested ({share}), {held_back} held back with")
    lines.append(
        f"their refused programs, {total - handled - held_back} left to the person, each with a reason."
    )
    lines.append(f"Of the {own} sites of programs that are data parallel of their own: {share_of_own}.")
    return "\n".join(lines)


def rule_table(fired: Fired) -> str:
    """How often each rule found something, as a Markdown table."""
    lines = ["| rule | findings | rewritten | programs | repositories |", "|---|---|---|---|---|"]
    for rule in (rule.id for rule in all_rules()):
        counts = (fired.findings, fired.rewritten, fired.programs, fired.repositories)
        lines.append(f"| {rule} | " + " | ".join(str(count[rule]) for count in counts) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    rows, fired = [], Fired()
    for parent in parser.parse_args().folders:
        for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
            print(folder.name, file=sys.stderr)
            rows.append(row(folder, fired))
    print(table(rows), rule_table(fired), sep="\n\n")
    return int(any("NO" in (row.parses, row.stable) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
