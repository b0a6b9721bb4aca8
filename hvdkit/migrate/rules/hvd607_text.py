"""HVD607: logs and settings that a `with open(...)` writes are written by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import restored
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import unguarded_writers, whole_statement
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.texts import text_block
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[Names, list[ast.stmt]] = {}
    for writer in unguarded_writers(facts):
        names = writer.names
        kinds = kinds_of(facts, names)
        if "horovod" in kinds or not kinds & {"ddp", "single"} or whole_statement(facts, writer) is not None:
            continue
        row = text_block(facts, writer)
        if row:
            found.setdefault(names, []).extend(row)
    for names, blocks in found.items():
        condition = f"{horovod_name(facts, names)}.rank() == 0"
        for row in edits.rows(names, list(dict.fromkeys(blocks))):
            message = "every rank would write this text; rank 0 writes it"
            yield restored(facts, "HVD607", names, row[0], message, edits.guard, names.source, row, condition)


RULE = Rule(
    id="HVD607",
    title="text files are written by rank 0",
    what=(
        'Puts a `with open(path, "w")` (or append) under `if hvd.rank() == 0:` that every rank would run, and the '
        'lines from `file = open(path, "w")` to `file.close()`, where all they do is write text, CSV rows, JSON, '
        'YAML or pickles; and a `json.dump(what, open(path, "w"))`.'
    ),
    why="N processes open the same log: each truncates it, or their lines appear N times and interleaved.",
    safety=(
        "Needed: the log then holds what rank 0 has seen. Not touched: a block that calls code that other "
        "ranks may have to run, too, or whose names are used below, and a file whose name appears where it "
        "may be read."
    ),
    check=check,
    changes=(
        Change(
            """\
            import csv
            import os
            import torch

            name = "results/log.csv"
            if not os.path.exists(name):
                with open(name, "w") as file:
                    rows = csv.writer(file)
                    rows.writerow(["epoch", "loss"])
            for epoch in range(10):
                loss.backward()
                optimizer.step()
                with open(name, "a") as file:
                    rows = csv.writer(file)
                    rows.writerow([epoch, loss.item()])
            """,
            """\
            import csv
            import os
            import horovod.torch as hvd
            import torch

            name = "results/log.csv"
            if not os.path.exists(name):
                if hvd.rank() == 0:
                    with open(name, "w") as file:
                        rows = csv.writer(file)
                        rows.writerow(["epoch", "loss"])
            for epoch in range(10):
                loss.backward()
                optimizer.step()
                if hvd.rank() == 0:
                    with open(name, "a") as file:
                        rows = csv.writer(file)
                        rows.writerow([epoch, loss.item()])
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            from pathlib import Path

            import torch

            log = Path("state.json")
            loss.backward()
            optimizer.step()
            with log.open("w") as file:
                file.write(str(loss.item()))
            state = log.read_text()
            """,
            reason="the file is read",
            suggested=True,
        ),
    ),
)
