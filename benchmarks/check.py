"""Run `hvdkit check` over folders of repositories and print one row for each, and a row for each rule.

    python benchmarks/check.py DIR...            the tables
    python benchmarks/check.py --findings DIR... every finding, to be read and judged

Every folder directly below a DIR is a repository. Nothing is written. A row says how many files name a
framework, how many programs start Horovod, how many findings there are, and how many of them --fix would fix
and --suggested would add. The commit is read from a file `.commit` or from git.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from corpus import commit

from hvdkit.check.command import make_plan
from hvdkit.check.horovod import programs
from hvdkit.check.rules import all_rules
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import WAITING, Applicability, Plan
from hvdkit.source.project.opening import open_project


@dataclass(frozen=True)
class Row:
    """One repository."""

    repository: str
    commit: str
    files: int
    programs: int
    findings: int
    safe: int
    suggested: int
    stable: str


def row(folder: Path, plan: Plan) -> Row:
    """Count one repository's plan."""
    kinds = [finding.applicability for finding in plan.findings]
    return Row(
        folder.name.replace("__", "/"),
        commit(folder)[:10],
        len(plan.files) + len(plan.unreadable),
        len(programs(Facts(open_project([folder])))),
        len(kinds),
        kinds.count(Applicability.SAFE),
        sum(kind in WAITING for kind in kinds),
        "yes" if not any(file.problem for file in plan.files) else "NO",
    )


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def main() -> int:
    """Print the tables, or the findings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--findings", action="store_true", help="print every finding instead of the tables")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    args = parser.parse_args()
    rows: list[Row] = []
    by_rule: Counter[str] = Counter()
    for parent in args.folders:
        for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
            print(folder.name, file=sys.stderr)
            plan = make_plan([folder], Options())
            rows.append(row(folder, plan))
            by_rule.update(finding.rule for finding in plan.findings)
            for finding in plan.findings if args.findings else ():
                place = finding.path.relative_to(parent)
                cell = f":cell {finding.cell}" if finding.cell else ""
                print(f"{place}{cell}:{finding.line}: {finding.rule} {finding.message}")
    if not args.findings:
        print(table([field.name for field in fields(Row)], [astuple(row) for row in rows]))
        titles = {rule.id: rule.title for rule in all_rules()}
        print()
        print(table(["rule", "about", "findings"], [(r, titles[r], n) for r, n in sorted(by_rule.items())]))
    return int(any(row.stable == "NO" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
