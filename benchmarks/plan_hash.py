"""One hash a project for all that hvdkit says and writes: whether a change of the code changes a plan.

    python benchmarks/plan_hash.py --json before.json DIR...      # on the commit before
    python benchmarks/plan_hash.py --json after.json DIR...       # on the commit after
    python benchmarks/plan_hash.py --compare before.json after.json

Every folder directly below a DIR is a project; it is planned by `migrate`, by `migrate --suggested --target
hvdkit` and by `check`. A line is printed for each project, and one for all of them together; nothing is
written into the folders. --compare names each finding, rewritten file, condition and note of one file that
the other has not, and ends with 1 when there is any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from hvdkit.check.rules import all_rules as check_rules
from hvdkit.collecting import uncollected
from hvdkit.migrate.engine import RuleFailed, make_plan, run_pass
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan

MIGRATE = (("migrate", Options()), ("migrate --suggested", Options(target="hvdkit", suggested=True)))


def said_of(folder: Path) -> list[str]:
    """Each finding, rewritten file, condition and note of a project, a line of text each."""
    return [line for command in _commands(folder) for line in command]


def _commands(folder: Path) -> Iterator[list[str]]:
    for name, options in MIGRATE:
        try:
            plan = make_plan([folder], options)
        except RuleFailed as error:
            yield [f"{name}: {error}"]
            continue
        programs = (
            _line(
                name,
                entry=_below(folder, program.entry),
                kind=program.kind,
                refused=program.refused.replace(str(folder), ""),
                conditions=[(row.name, row.state.value, row.detail) for row in program.conditions],
            )
            for program in plan.programs
        )
        notes = (_line(name, note=note.replace(str(folder), "")) for note in plan.notes)
        yield [*_files(name, folder, plan.files), *programs, *notes]
    try:
        with uncollected():
            done = run_pass([folder], Options(), lambda _: check_rules())
            done.forget()
            yield list(_files("check", folder, done.files))
    except RuleFailed as error:
        yield [f"check: {error}"]


def _files(command: str, folder: Path, files: Sequence[FilePlan]) -> Iterator[str]:
    for file in files:
        for finding in file.findings:
            yield _line(command, **{**finding.as_json(), "path": _below(folder, finding.path)})
        if file.changed or file.problem:
            after = sha256(file.after.encode(file.encoding)).hexdigest()
            yield _line(command, path=_below(folder, file.path), after=after, problem=file.problem)


def _line(command: str, **said: Any) -> str:
    return f"{command}: {json.dumps(said, sort_keys=True)}"


def _below(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def hash_of(lines: Sequence[str]) -> str:
    """Sixteen digits for lines of text in their order."""
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def differences(before: dict[str, list[str]], after: dict[str, list[str]]) -> Iterator[str]:
    """What one result has and the other has not, as `- ` and `+ ` lines below the project's name."""
    for project in sorted({*before, *after}):
        old, new = before.get(project, []), after.get(project, [])
        if old == new:
            continue
        yield project
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        yield from (f"- {line}" for line in gone.elements())
        yield from (f"+ {line}" for line in come.elements())
        if not gone and not come:
            yield "  the same in a different order"


def main() -> int:
    """Print the hashes, or compare two results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dirs", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep all that was said, for --compare")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    args = parser.parse_args()
    if args.compare:
        before, after = (json.loads(path.read_text()) for path in args.compare)
        lines = list(differences(before, after))
        print("\n".join(lines) or "no difference")
        return int(bool(lines))
    projects = [folder for top in args.dirs for folder in sorted(top.iterdir()) if folder.is_dir()]
    said: dict[str, list[str]] = {}
    for folder in projects:
        name = f"{folder.parent.name}/{folder.name}"
        said[name] = said_of(folder.resolve())
        print(hash_of(said[name]), name, flush=True)
    print(hash_of([f"{name} {hash_of(lines)}" for name, lines in said.items()]), "in all")
    if args.json:
        args.json.write_text(json.dumps(said, indent=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
