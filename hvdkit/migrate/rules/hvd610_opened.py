"""HVD610: a file that all ranks write while they do more is written by rank 0; the others open nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import restored
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import unguarded_writers, whole_statement
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.write_only.opened_everywhere import Opened, opened_everywhere
from hvdkit.migrate.facts.write_only.texts import text_block
from hvdkit.migrate.plan import Edit, Finding


def check(facts: Facts) -> Iterator[Finding]:
    for writer in unguarded_writers(facts):
        if whole_statement(facts, writer) is not None or text_block(facts, writer):
            continue  # HVD601, HVD607
        opened = opened_everywhere(facts, writer)
        if opened is not None:
            message = (
                "every rank would write this file; rank 0 writes it, and the other ranks write to os.devnull"
            )
            yield restored(facts, "HVD610", writer.names, opened.path, message, _edits, facts, opened)


def _edits(facts: Facts, opened: Opened) -> list[Edit]:
    """Another path for the other ranks, and where the file is read below, a barrier."""
    source, hvd = opened.names.source, horovod_name(facts, opened.names)
    path = source.segment(opened.path)
    if isinstance(opened.path, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
        path = f"({path})"
    made = [edits.replace(source, opened.path, f"{path} if {hvd}.rank() == 0 else os.devnull")]
    if opened.waited:
        made.append(edits.after(source, opened.last, [f"{hvd}.barrier()"]))
    return made


RULE = Rule(
    id="HVD610",
    title="files in the middle of what all ranks do",
    what=(
        'Makes all ranks except 0 open os.devnull instead of a file, where `with open(path, "w") as file:`, or the lines '
        "from `file = open(...)` to `file.close()`, do more than write: the block computes what is used "
        "below, or calls code that all ranks have to run. Where the training may read the file afterwards, "
        "all wait for rank 0."
    ),
    why="N processes open the same file: each truncates it, or their lines appear N times and interleaved.",
    safety=(
        "Needed: the file then holds what rank 0 has seen, and without a shared disk it exists on rank 0's "
        "host only. Only where the file is written and not read. A file that is read is touched only where "
        "all ranks pass equally often: no test around it depends on losses, the clock or the contents of a "
        "disk."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            for epoch in range(3):
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
                answers = []
                with open(args.folder + "/answers.txt", "w") as file, open("truth.txt" if args.plain else "t.txt", "w") as truth:
                    for x, y in rest:
                        answers.append(model(x))
                        file.write(f"{answers[-1]}\\\\n")
                        print(y, file=truth)
                print(score(answers))
            """,
            """\
            import horovod.torch as hvd
            import torch
            import os

            for epoch in range(3):
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
                answers = []
                with open(args.folder + "/answers.txt" if hvd.rank() == 0 else os.devnull, "w") as file, open(("truth.txt" if args.plain else "t.txt") if hvd.rank() == 0 else os.devnull, "w") as truth:
                    for x, y in rest:
                        answers.append(model(x))
                        file.write(f"{answers[-1]}\\\\n")
                        print(y, file=truth)
                print(score(answers))
            """,
            suggested=True,
            note="All ranks need the answers; one of them writes the file.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import time
            import torch

            def main():
                loss = None
                for x in batches:
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()
                pass
                for number in range(2):
                    if args.test:
                        with open("dev.txt", "w") as file:
                            answers = [model(x) for x in rest]
                            file.write(str(answers))
                        print(score(answers, "dev.txt"))

            main()
            """,
            reason="rank 0 may overwrite what another rank still reads",
            suggested=True,
        ),
    ),
)
