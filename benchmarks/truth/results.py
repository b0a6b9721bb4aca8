"""What came of generated programs, and how it is printed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Union

from truth import choices
from truth.claims import VERDICT, Claims, Fault
from truth.tf import choices as tf_choices

Choices = Union[choices.Choices, tf_choices.Choices]


@dataclasses.dataclass(frozen=True)
class Result:
    """One program, held. needless: what was open, or left, though the program was right."""

    seed: int
    choices: Choices
    claims: Claims
    faults: tuple[Fault, ...]
    lies: tuple[Fault, ...]
    needless: tuple[str, ...]

    @property
    def wrong(self) -> set[str]:
        """What is wrong with what was said, without what differs from program to program."""
        said = {text.split(":")[0].split(" train")[0] for text in self.needless}
        return {fault.row for fault in self.lies} | said


def told(result: Result) -> list[str]:
    """What a person reads of one program."""
    lines = [f"program {result.seed}: {result.claims.verdict}: {result.choices.told}"]
    return lines + found_lines(result.faults, result.lies, result.needless)


def found_lines(faults_: Sequence[Fault], lies: Sequence[Fault], needless_: Sequence[str]) -> list[str]:
    """What was false, what was wrong and said, and what was open without need."""
    return [
        *(f"    FALSE YES   {fault.row}: {fault.what}" for fault in lies),
        *(f"    wrong, told {fault.row}: {fault.what}" for fault in faults_ if fault not in lies),
        *(f"    NEEDLESS    {said}" for said in needless_),
    ]


def counted(results: list[Result], rows: Sequence[str]) -> list[str]:
    """The figures: by verdict, by row of the table, and by what was drawn."""
    right = [one for one in results if not one.faults and one.claims.verdict != "refused"]
    ready = [one for one in right if one.claims.ready]
    lies = [one for one in results if one.lies]
    verdicts = Counter(one.claims.verdict for one in results)
    lines = [f"{len(results)} programs: " + ", ".join(f"{n} {name}" for name, n in verdicts.most_common())]
    lines += [f"{len(lies)} with a false yes"]
    lines += [f"{len(ready)} of {len(right)} that are right when they are run are ready"]
    lines += ["", f"{'row':44} {'proven':>6} {'open':>6} {'n/a':>6} {'wrong':>6} {'false yes':>9}"]
    for row in (*rows, VERDICT):
        states = Counter(one.claims.rows.get(row, "") for one in results)
        wrong = sum(any(fault.row == row for fault in one.faults) for one in results)
        false = sum(any(fault.row == row for fault in one.lies) for one in results)
        cells = "".join(f" {states[state]:6}" for state in ("proven", "open", "not needed"))
        lines.append(f"{row:44}{cells} {wrong:6} {false:9}")
    return [
        *lines,
        *_by_way("a false yes", results, lambda one: bool(one.lies)),
        *_by_way("a needless open", results, lambda one: bool(one.needless)),
    ]


def _by_way(what: str, results: list[Result], has: Callable[[Result], bool]) -> list[str]:
    """In how many of the programs with each way something is wrong; others are left out."""
    all_, wrong = Counter[str](), Counter[str]()
    for one in results:
        ways = [f"{thing}={way}" for thing, way in one.choices.of]
        all_.update(ways)
        wrong.update(ways if has(one) else [])
    lines = [f"  {n:3} of {all_[way]:3} {way}" for way, n in wrong.most_common()]
    return ["", f"programs with {what}, by what was drawn:", *lines] if lines else []
