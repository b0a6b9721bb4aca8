"""What a run knows so far, and the stages at which it starts over with other texts or other questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.migrate.catalog.rule import AverageAfter, Rule
from hvdkit.migrate.edits.unfolding import unfolded_files
from hvdkit.migrate.engine.after_backward import AVERAGING, without_averages
from hvdkit.migrate.engine.checking import by_file, found_by
from hvdkit.migrate.engine.wrapping import said_literally, wrapped_files
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.options import DDP
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.stopping import stopped_files
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Reader
from hvdkit.source.project.opening import reopen

STOPPING = "HVD901"
WRAPPING = "HVD003"


@dataclass(frozen=True, eq=False)
class Run:
    """A project with its facts, and what the rules find in it. every: the rules, switched off or not."""

    facts: Facts
    every: Sequence[Rule]
    reader: Reader

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules that the options leave."""
        return [rule for rule in self.every if self.facts.options.allows(rule.id)]

    @cached_property
    def findings(self) -> dict[Path, list[Finding]]:
        """What the rules find, by file; looked for when it is first asked for."""
        return by_file(self._found.values())

    @cached_property
    def _found(self) -> dict[str, list[Finding]]:
        return found_by(self.facts, self.rules)

    def found(self, rules: Sequence[Rule]) -> list[Finding]:
        """What some rules find, also those that are switched off."""
        others = [rule for rule in rules if rule.id not in self._found]
        found = {**self._found, **found_by(self.facts, others)}
        return list(chain.from_iterable(found[rule.id] for rule in rules))

    def reread(self, files: Mapping[Path, Names]) -> Run:
        """The run from its beginning, with other texts of some files."""
        project = reopen(self.facts.project, files, self.reader)
        return replace(self, facts=Facts(project, self.facts.options))


@dataclass(frozen=True)
class Stage:
    """A reason to start over. again: the run that follows; None where the reason does not hold.

    repeats: whether it may hold again in the run that follows.
    """

    name: str
    reason: str
    again: Callable[[Run], Run | None]
    repeats: bool = False


def prepared(run: Run) -> Run:
    """The run once no stage has a reason to start over."""
    for stage in STAGES:
        while (again := stage.again(run)) is not None:
            run = again
            if not stage.repeats:
                break
    return run


def _wrap(run: Run) -> Run | None:
    options = run.facts.options
    asked = options.target == DDP and options.allows(WRAPPING)
    wrapped = wrapped_files(run.facts) if asked else {}
    if not wrapped:
        return None
    again = run.reread(wrapped)
    entries = said_literally(run.facts, again.facts)
    if not entries:
        return again
    return run.reread(wrapped_files(Facts(run.facts.project, options, entries, run.facts)))


def _stop(run: Run) -> Run | None:
    options = run.facts.options
    asked = options.suggested and options.allows(STOPPING) and options.target != DDP
    stopped = stopped_files(run.facts) if asked else {}
    return run.reread(stopped) if stopped else None


def _unfold(run: Run) -> Run | None:
    findings = chain.from_iterable(run.findings.values())
    unfolded = unfolded_files(run.facts.project.files, findings)
    return run.reread(unfolded) if unfolded else None


def _average_after(run: Run) -> Run | None:
    if not run.facts.options.allows(AVERAGING):
        return None
    rules = [rule for rule in run.every if rule.average_after is not AverageAfter.NEVER]
    entries = without_averages(run.facts, rules, run.found(rules))
    if not entries:
        return None
    facts = Facts(run.facts.project, run.facts.options, entries, run.facts)
    return replace(run, facts=facts)


STAGES = (
    Stage(
        "wrap",
        "models are wrapped in DDP: what reads them from then on is found in that text",
        _wrap,
    ),
    Stage(
        "stop",
        "scripts stop where an option selects a different kind of parallelism: that code is not analyzed",
        _stop,
    ),
    Stage(
        "unfold",
        "an edit needs a statement on separate lines: the file is read again in that form",
        _unfold,
        repeats=True,
    ),
    Stage(
        "average after",
        "optimizers of a program cannot average: the rules run again for averages after backward()",
        _average_after,
    ),
)
