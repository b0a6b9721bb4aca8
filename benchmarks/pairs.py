"""Hold what `hvdkit migrate` makes of a script against what a person made of it.

    python benchmarks/pairs.py pairs.csv DIR

pairs.csv has a row for each pair: pair_id, before_repo, before_commit, before_path, what the person put in
place (hvd_constructs_in_after) and what the person did wrong (human_defects), both separated by semicolons.
Below DIR lie git clones (bare ones, too) called owner__name. Each `before` is taken out of its commit with
the folder that it lies in, migrated with --suggested, and looked at by `hvdkit check`. A construct is


- in place: its post-condition is proven, or its call or its rule's edit is there;
- not needed: its post-condition does not apply, and `hvdkit check` does not miss it;
- an option: something that the person added to the script, which the script before knows nothing of;
- left: everything else, with what hvdkit says.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hvdkit.check.command import make_plan as make_check_plan
from hvdkit.check.horovod import called
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import Plan, Program, Reported, State
from hvdkit.source.project.opening import open_project


@dataclass(frozen=True)
class Signs:
    """How a construct shows in a migrated script, and which of check's rules miss it."""

    conditions: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    missed_by: tuple[str, ...] = ()


CONSTRUCTS = {
    "init": Signs(
        ("Horovod is initialized before CUDA", "Horovod is initialized before TensorFlow is used"),
        missed_by=("HVD853",),
    ),
    "set_device(local_rank)": Signs(("each process has its own device",), missed_by=("HVD85",)),
    "sampler(size,rank)": Signs(
        ("training data is sharded by rank",), missed_by=("HVD810", "HVD811", "HVD812", "HVD815")
    ),
    "set_epoch": Signs(("each epoch has a different order",), missed_by=("HVD813",)),
    "DistributedOptimizer": Signs(("every optimizer averages gradients",), missed_by=("HVD82",)),
    "broadcast_parameters": Signs(("ranks start from the same weights",), missed_by=("HVD835", "HVD836")),
    "broadcast_optimizer_state": Signs(calls=("broadcast_optimizer_state",), missed_by=("HVD834", "HVD837")),
    "broadcast(obj)": Signs(calls=("broadcast_object", "broadcast"), missed_by=("HVD838",)),
    "rank0-guard": Signs(
        ("files are written by rank 0 only",), rules=("HVD60", "HVD72"), missed_by=("HVD86",)
    ),
    "lr*size": Signs(rules=("HVD403", "HVD721"), missed_by=("HVD840",)),
    "steps//size": Signs(("training data is sharded by rank",), rules=("HVD711",), missed_by=("HVD810",)),
    "allreduce": Signs(calls=("allreduce", "allreduce_"), missed_by=("HVD87", "HVD895")),
    "allgather": Signs(calls=("allgather",), missed_by=("HVD87",)),
    "synchronize/skip_synchronize": Signs(rules=("HVD404",), missed_by=("HVD823", "HVD824", "HVD828")),
}
OPTIONS = ("compression", "adasum", "backward_passes_per_step", "warmup-callback")


@dataclass(frozen=True)
class Migrated:
    """A script as hvdkit leaves it: the plan, its program, the facts afterwards, check's findings."""

    plan: Plan
    program: Program | None
    facts: Facts
    checked: list[Reported]


@dataclass(frozen=True)
class Row:
    """One pair: the person's constructs by what became of them, and check's findings about the result."""

    pair: str
    before: str
    by_state: Mapping[str, list[str]]
    why: list[str]
    checked: list[str]
    person: str

    def cells(self) -> list[str]:
        """The row's cells in the table."""
        lists = [", ".join(self.by_state[state]) or "-" for state in STATES]
        why, checked = "; ".join(self.why) or "-", ", ".join(self.checked) or "nothing"
        return [self.pair, self.before, *lists, why, checked, self.person or "-"]


STATES = ("in place", "not needed", "option", "left")
HEADER = ("pair", "before", *STATES, "why left", "check finds", "the person's defects")


def row(pair: Mapping[str, str], clones: Path) -> Row:
    """Migrate one `before` and count."""
    clone = clones / pair["before_repo"].replace("/", "__")
    before = f"{pair['before_repo']} {pair['before_commit'][:10]} {pair['before_path']}"
    with tempfile.TemporaryDirectory() as folder:
        take_out(clone, pair["before_commit"], Path(pair["before_path"]).parent, Path(folder))
        done = migrated(Path(folder, pair["before_path"]))
        by_state: dict[str, list[str]] = {state: [] for state in STATES}
        reasons: dict[str, str] = {}
        for construct in filter(None, pair["hvd_constructs_in_after"].split(";")):
            state, reason = what_became(construct, done)
            by_state[state].append(construct)
            reasons[construct] = reason
        checked = [f"{place(finding)} {finding.rule}" for finding in done.checked]
    why = list(dict.fromkeys(filter(None, reasons.values())))
    return Row(pair["pair_id"], before, by_state, why, checked, pair["human_defects"])


def take_out(clone: Path, commit: str, part: Path, folder: Path) -> None:
    """Write the Python files of one folder of a commit, and of those below it, into a folder of ours.

    What lies above is left out: Keras beside its own examples would be part of the program.
    """
    command = ["git", "-C", str(clone), "archive", commit, "--", str(part / "*.py")]
    packed = subprocess.run(command, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def migrated(script: Path) -> Migrated:
    """Rewrite a script and what it imports, in place, and look at the result."""
    plan = make_plan([script], Options(suggested=True))
    for file in plan.changed:
        file.path.write_bytes(file.after.encode(file.encoding))
    program = next((p for p in plan.programs if p.entry == script and p.kind != "none"), None)
    checked = make_check_plan([script], Options()).findings
    return Migrated(plan, program, Facts(open_project([script])), checked)


def what_became(construct: str, done: Migrated) -> tuple[str, str]:
    """The state of one construct of the person's, and what hvdkit says about it."""
    if construct in OPTIONS:
        return "option", ""
    if done.program is None:
        return "left", "no program that trains"
    if done.program.refused:
        finding = next(f for f in done.plan.left if done.program.refused.startswith(f.rule))
        return "left", f"refused, {done.program.refused}: {finding.message}"
    signs = CONSTRUCTS[construct]
    rows = [condition for condition in done.program.conditions if condition.name in signs.conditions]
    missed = [f"{f.rule} at {place(f)}" for f in done.checked if f.rule.startswith(signs.missed_by)]
    missed += [condition.detail for condition in rows if condition.state is State.OPEN]
    if missed:
        return "left", "; ".join(missed)
    edited = any(f.edits and f.rule.startswith(signs.rules) for f in done.plan.findings if signs.rules)
    if edited or any(r.state is State.PROVEN for r in rows) or list(called(done.facts, *signs.calls)):
        return "in place", ""
    if construct == "lr*size" and done.program.kind in ("single", "tf-single"):
        return "left", "the optimizer is given no rate to scale"
    return "not needed", ""


def place(finding: Reported) -> str:
    """File and line of a finding."""
    return f"{finding.path.name}:{finding.line}"


def table(rows: Iterable[Row]) -> str:
    """Rows as a Markdown table, with the counts below it."""
    rows = list(rows)
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    count = Counter(dict.fromkeys(STATES, 0))
    for each in rows:
        count.update({state: len(found) for state, found in each.by_state.items()})
    said = ", ".join(f"{number} {state}" for state, number in count.items())
    found = sum(len(each.checked) for each in rows)
    lines.append(
        f"\n{count.total()} constructs in {len(rows)} pairs: {said}. Findings of hvdkit check: {found}."
    )
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path, metavar="pairs.csv")
    parser.add_argument("clones", type=Path, metavar="DIR")
    args = parser.parse_args()
    rows = []
    with args.pairs.open(encoding="utf-8", newline="") as file:
        for pair in csv.DictReader(file):
            print(pair["pair_id"], file=sys.stderr)
            rows.append(row(pair, args.clones))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
