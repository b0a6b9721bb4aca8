"""HVD110: a single-process program gets hvd.init() and its device by local rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Last, Rule
from hvdkit.migrate.decisions.rank_questions import RankQuestion
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.console_scripts import console_script
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.init.init_order import starts
from hvdkit.migrate.facts.launch.jobs_only import in_jobs_only, tested
from hvdkit.migrate.facts.launch.ranks import environment_stores
from hvdkit.migrate.facts.programs.programs import TALKS, ProgramFacts, programs_of
from hvdkit.migrate.facts.programs.reached_code import (
    DEFINITIONS,
    does_something,
    is_script,
    is_started,
    only_single,
    runs_in,
    start_below,
)
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import below_imports, start_lines
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

FIRST = "Horovod starts first, and each process uses the GPU of its local rank"
SHARES = "it runs as a single process, and reaches code that now asks for its rank"
IMPORTED = "what it creates at import now asks for its rank"
TOO_LATE = "this asks for its rank above the imports, and hvd.init() has to come below them"
MOVE = "move the imports above this line, and run hvdkit migrate again"
IS_STARTED = "torch.distributed.is_initialized"
NOBODY = "no script was found that runs this training, which asks for its rank: a script that creates it by name may exist"
START = "call hvd.init() and torch.cuda.set_device(hvd.local_rank()) first in the script that runs it"


def check(facts: Facts, asking: Sequence[RankQuestion]) -> Iterator[Finding]:
    on_import = [question for question in asking if _on_import(question)]
    others = any(is_script(facts, program.entry) for program in programs_of(facts))
    for program in programs_of(facts):
        entry = program.entry
        if others and not is_script(facts, entry):
            if program.kind == "single" and _started_by_nobody(facts, program, asking):
                yield manual("HVD110", entry, entry.source.tree.body[0], NOBODY, START)
        elif program.kind == "single" and (early := _asked_above(facts, entry, on_import)):
            yield refused("HVD110", entry, early, TOO_LATE, MOVE)
        elif program.kind == "single" or _asks_unstarted(facts, program, asking):
            message = FIRST if program.kind == "single" else SHARES
            yield safe(
                facts, "HVD110", entry, entry.source.tree.body[0], message, _edit, facts, program, asking
            )
    for names in _imported_with(facts, on_import):
        make = (below_imports, facts, names, start_lines(facts, names))
        yield safe(facts, "HVD110", names, names.source.tree.body[0], IMPORTED, *make)


def _on_import(question: RankQuestion) -> bool:
    """Whether it asks while its file is run or imported: in no function, and not under the main guard."""
    names, statement = question.names, question.statement
    guarded = main_guard(names) in (statement, *names.ancestors(statement))
    return names.function(statement) is None and not isinstance(statement, DEFINITIONS) and not guarded


def _asked_above(facts: Facts, names: Names, on_import: Sequence[RankQuestion]) -> ast.stmt | None:
    """What asks for its rank, when a script is run, above the import that hvd.init() goes below."""
    last = start_below(facts, names)
    asking = (question.statement for question in on_import if question.names is names)
    return next((node for node in asking if last is not None and node.lineno < last.lineno), None)


def _started_by_nobody(facts: Facts, program: ProgramFacts, asking: Sequence[RankQuestion]) -> bool:
    """Whether a file that only defines things will ask for ranks, and is in no script's program that trains."""
    asks = any(question.names is program.entry for question in asking)
    return asks and not any(
        other.kind != "none" and program.entry in other.files and is_script(facts, other.entry)
        for other in programs_of(facts)
    )


def _asks_unstarted(facts: Facts, program: ProgramFacts, asking: Sequence[RankQuestion]) -> bool:
    """Whether a script that runs something will ask for ranks, and is run alone: it needed no process group.

    What it shares with a training may ask, or code of its own.
    """
    if program.kind not in ("none", "ddp") or starts(facts, program) or _needs_group(facts, program):
        return False
    if not is_started(facts, program.entry):
        return False
    there = [(each.names, each.statement) for each in asking if each.names in program.files]
    return any(runs_in(facts, program, *each) and not in_jobs_only(facts, *each) for each in there)


def _needs_group(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program fails where no process group was made: it comes to DDP or torch.distributed untested."""
    return any(
        runs_in(facts, program, site.names, site.node) and not tested(facts, program, site.names, site.node)
        for site in facts.calls(*TALKS)
        if site.name not in words.ASK_NO_GROUP and site.name != IS_STARTED
    )


def _imported_with(facts: Facts, on_import: Sequence[RankQuestion]) -> list[Names]:
    """The files that ask for ranks while a program of one process imports them."""
    asking = {question.names for question in on_import if only_single(facts, question.names)}
    entries = {program.entry for program in programs_of(facts) if program.kind == "single"}
    return [names for names in facts.files if names in asking and names not in entries]


def _edit(facts: Facts, program: ProgramFacts, asking: Sequence[RankQuestion]) -> list[Edit]:
    names = program.entry
    guard = main_guard(names)
    lines = start_lines(facts, names)
    if program.kind != "single" and _chooses_gpus(facts, program):
        lines = lines[:1]  # CUDA, once it is asked, takes no other CUDA_VISIBLE_DEVICES
    others = any(does_something(names, each) for each in names.source.tree.body if each is not guard)
    if guard is None or others or any(each.names is names and _on_import(each) for each in asking):
        return [below_imports(facts, names, lines)]
    command = console_script(facts, names)
    starts = [guard.body] if command is None else [command.body]
    if command is not None and any(guard in each.names.ancestors(each.statement) for each in asking):
        starts.append(guard.body)
    return [edits.at_start(names, body, lines) for body in starts]


def _chooses_gpus(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program sets CUDA_VISIBLE_DEVICES itself, as it goes."""
    return any(
        runs_in(facts, program, names, statement)
        for names in program.files
        for statement, _ in environment_stores(names, "CUDA_VISIBLE_DEVICES")
    )


RULE = Rule(
    id="HVD110",
    title="a single-process program starts Horovod",
    what=(
        "Adds hvd.init() and torch.cuda.set_device(hvd.local_rank()) at the program's start, and at that of "
        "a script that is run alone and reaches code that asks for its rank now: what it shares with a "
        "program that trains."
    ),
    why="Every rank must know its local rank before the first CUDA call; otherwise all processes of a host share GPU 0.",
    safety="Safe: on one process it changes nothing.",
    check=Last(check),
    changes=(
        Change(
            """\
            import torch

            def main():
                model = torch.nn.Linear(2, 1)
                model(torch.ones(2)).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                main()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def main():
                model = torch.nn.Linear(2, 1)
                model(torch.ones(2)).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                hvd.init()
                if torch.cuda.is_available():
                    torch.cuda.set_device(hvd.local_rank())
                main()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            def evaluate(model, x):
                return model(x)
            """,
            reason="a program that never runs a backward pass trains nothing",
        ),
    ),
)
