"""HVD602: a script that was single-process prints once, not once per rank."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.sample_code import reads_sample
from hvdkit.migrate.facts.files.writers import needed_everywhere, unguarded_writers
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import after_start, only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.texts import text_block
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    written = [s for writer in unguarded_writers(facts) for s in text_block(facts, writer)]
    for names in facts.files:
        if not only_single(facts, names):
            continue
        calls = [*names.calls.get("print", ()), *names.calls.get("write", ())]
        calls = [call for call in calls if not _goes_with(facts, names, call, written)]
        prints = [names.statement(call) for call in calls if _prints(facts, names, call)]
        for row in edits.rows(names, prints):
            condition = f"{horovod_name(facts, names)}.rank() == 0"
            message = "printed by rank 0 only"
            yield safe(facts, "HVD602", names, row[0], message, edits.guard, names.source, row, condition)


def _goes_with(facts: Facts, names: Names, call: ast.Call, written: Collection[ast.stmt]) -> bool:
    """Whether a print stands in a row that writes a text file, which HVD607 guards as a whole."""
    if not facts.options.suggested and keyword(call, "file") is None:
        return False
    return any(parent in written for parent in names.ancestors(call))


def _prints(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is a plain print, or tqdm's, after Horovod's start, that every rank would run."""
    statement = names.statement(call)
    whole = isinstance(statement, ast.Expr) and statement.value is call
    if isinstance(call.func, ast.Attribute):  # a bar that is disabled writes all the same
        written = facts.flow.qualified(names, call.func) & {"tqdm.tqdm.write", "tqdm.write"}
        bars = {value.name for value in facts.flow.values(names, call.func.value)}
        own = bool(written or bars & {"tqdm.tqdm", "tqdm.trange"})
    else:
        own = call.func.id == "print" and not names.bindings("print", call)  # type: ignore[attr-defined]
    if not whole or not own or not after_start(facts, names, call):
        return False
    if reads_sample(facts, names, call):
        return False  # a worker of the loader, which may have no Horovod, runs it for its rank's own samples
    return not needed_everywhere(facts, names, call) and where_runs(facts, names, call) is Where.ALL


RULE = Rule(
    id="HVD602",
    title="printed once",
    what="Puts print statements inside functions of a single-process script under `if hvd.rank() == 0:`.",
    why="Every rank runs the script, so every line would be printed N times.",
    safety="Safe: printing computes nothing. A print that calls the script's own functions is left as it is.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            def train():
                loss.backward()
                optimizer.step()
                print("loss", loss.item())

            train()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def train():
                loss.backward()
                optimizer.step()
                if hvd.rank() == 0:
                    print("loss", loss.item())

            train()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import multiprocessing
            import torch

            def measure(sample):
                print("measuring", sample)
                return len(sample)

            def train(samples):
                with multiprocessing.Pool(4) as pool:
                    lengths = pool.starmap(measure, samples)
                model(torch.tensor(lengths)).sum().backward()
                optimizer.step()

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            train(samples)
            """,
            reason="a process of a pool has no Horovod",
        ),
    ),
)
