"""What migrate claims of a program, and how a fault that was seen is held against it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from truth.warm import Warm

MIGRATE_LIMIT = 120.0  # seconds
WEAKEST = ("open", "proven", "not needed")  # of the states of a row
OWN_GROUP = "only the process group of Horovod's ranks"  # hvdkit.migrate.conditions.leftovers
VERDICT = "the verdict"  # what no row is about: crashes, epochs, validation, folders


@dataclasses.dataclass(frozen=True)
class Claims:
    """What migrate says. rows: state by name. open_: the sentence of each row that is open, by name.

    verdict: `ready`, `ready with choices`, `left` or `refused`. left: what is left to the person. own_group:
    whether a process group of Horovod's ranks is said to stay, for libraries that ask for one.
    """

    rows: dict[str, str]
    open_: dict[str, str]
    verdict: str
    left: tuple[str, ...]
    own_group: bool = False

    @property
    def ready(self) -> bool:
        """Whether it may be run as it is."""
        return self.verdict.startswith("ready")


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that a run did wrong. row: the condition that it refutes, or VERDICT."""

    row: str
    what: str


GROUP = Fault("no DDP or process group is left", "a process group of torch is left")


def migrated(warm: Warm, folder: Path, plan: Path, *more: str) -> Claims:
    """Rewrite the program in a folder. plan: where the plan is written. Ends with the output of a crash."""
    command = ["hvdkit", "migrate", ".", "--write", "--allow-no-vcs", "--no-diff", f"--json={plan}", *more]
    code, output = warm.run(command, folder, MIGRATE_LIMIT)
    if code not in (0, 1) or not plan.exists():
        raise SystemExit(f"{output}\nexit code {code} of hvdkit migrate in {folder}")
    said = json.loads(plan.read_text())
    rows: dict[str, str] = {}
    open_: dict[str, str] = {}
    own_group = False
    for program in said["programs"]:
        for row in program["conditions"]:
            # Of several programs the weakest word counts.
            rows[row["name"]] = min(rows.get(row["name"], row["state"]), row["state"], key=WEAKEST.index)
            own_group |= row["detail"].startswith(OWN_GROUP)
            if row["state"] == "open":
                open_[row["name"]] = row["detail"]
    findings = [one for one in said["findings"] if one["applicability"] in ("needed", "manual", "refused")]
    left = tuple(f"{one['rule']} {Path(one['path']).name}:{one['line']} {one['message']}" for one in findings)
    refused = any(program["refused"] for program in said["programs"]) or any(
        one["applicability"] == "refused" for one in said["findings"]
    )
    if refused:
        verdict = "refused"
    elif re.search(r"\d+ things? left", output) or code:
        verdict = "left"
    else:
        verdict = "ready with choices" if "choice" in output else "ready"
    return Claims(rows, open_, verdict, left, own_group)


def false_yes(claims: Claims, found: list[Fault]) -> list[Fault]:
    """The faults that a row denies, or that a program has which is called ready."""
    denied = ("proven", "not needed")
    said = {GROUP} if claims.own_group else set()
    unsaid = [fault for fault in found if fault not in said]
    return [fault for fault in unsaid if claims.ready or claims.rows.get(fault.row) in denied]


def needless(claims: Claims, found: list[Fault]) -> list[str]:
    """The rows that are open, and what is left, of a program with which nothing was wrong."""
    if found or claims.ready:
        return []
    return [f"{row}: {said}" for row, said in claims.open_.items()] + list(claims.left)
