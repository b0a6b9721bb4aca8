"""HVD601: checkpoints and other files are written on rank 0 only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.vocabulary import DUMPS, OPEN
from hvdkit.migrate.facts.files.writers import (
    Writer,
    needed_everywhere,
    unguarded_writers,
    whole_statement,
)
from hvdkit.migrate.facts.init.init_order import written_by_starter
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single, started, trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import fresh
from hvdkit.migrate.rewrites.texts import text_block
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[tuple[Names, bool, bool], list[ast.stmt]] = {}
    for writer in unguarded_writers(facts):
        names = writer.names
        kinds = kinds_of(facts, names)
        if writer.log or "horovod" in kinds or not kinds & {"ddp", "single"}:
            continue
        statement = whole_statement(facts, writer)
        if statement is None and text_block(facts, writer):
            continue  # HVD607
        running = started(facts, names, writer.node) if statement is not None else {False}
        if statement is not None and running != {False}:
            # What nobody is seen to call may be called by hand, where Horovod does not run.
            found.setdefault((names, running != {True}, writer.taken), []).append(statement)
            continue
        by_starter = (names, writer.node) in written_by_starter(facts)
        trained = trained_by(facts, names, writer.node)
        if not by_starter and not any(program.kind == "single" for program in trained):
            continue  # no rank writes it, or every one wrote it before: the post-condition says so
        computed = _computed_apart(facts, writer)
        if computed is not None and started(facts, names, writer.node) == {True}:
            message = "every rank still computes what is written, since all may have to; rank 0 writes it"
            yield safe(facts, "HVD601", names, writer.node, message, _compute_above, facts, writer, computed)
            continue
        short = writer.name.rpartition(".")[2]
        message = f"every rank would write the file of this {short}"
        if by_starter:
            message += ", which their parent process wrote once"
        advice = (
            f"put the writing under `if {horovod_name(facts, names)}.rank() == 0:`, the code that all ranks "
            "have to run outside it, and a barrier before the file is read"
        )
        yield manual("HVD601", names, writer.node, message, advice)
    for (names, ask, copied), statements in found.items():
        make = safe if only_single(facts, names) and not copied else needed
        for row in edits.rows(names, list(dict.fromkeys(statements))):
            message = "every rank would write this file; rank 0 writes it"
            hvd = horovod_name(facts, names)
            condition = f"not {hvd}.is_initialized() or {hvd}.rank() == 0" if ask else f"{hvd}.rank() == 0"
            yield make(facts, "HVD601", names, row[0], message, edits.guard, names.source, row, condition)


def _computed_apart(facts: Facts, writer: Writer) -> ast.expr | None:
    """The one argument of a call that all ranks may have to compute: `save_image(generator(noise), path)`."""
    names, call = writer.names, writer.node
    statement = names.statement(call)
    alone = isinstance(statement, ast.Expr) and statement.value is call and not writer.taken
    if not alone or writer.opened is not None or writer.name in (*DUMPS, OPEN):
        return None
    arguments = [*call.args, *(item.value for item in call.keywords)]
    needed = [argument for argument in arguments if needed_everywhere(facts, names, argument)]
    if len(needed) != 1 or needed[0].lineno != needed[0].end_lineno or isinstance(needed[0], ast.Starred):
        return None
    # Nothing that is computed may change places, and no other rule may have an edit inside.
    above = arguments[: arguments.index(needed[0])]
    still = any(names.calls_in(argument) for argument in above) or "module" in ast.unparse(needed[0])
    return None if still else needed[0]


def _compute_above(facts: Facts, writer: Writer, computed: ast.expr) -> list[Edit]:
    names, source = writer.names, writer.names.source
    statement = names.statement(writer.node)
    variable = fresh(names, "written")
    above = edits.before(source, statement, [f"{variable} = {source.segment(computed)}"])
    guarded = edits.guard(source, [statement], f"{horovod_name(facts, names)}.rank() == 0")
    return [above, *guarded, edits.replace(source, computed, variable)]


RULE = Rule(
    id="HVD601",
    title="files are written by rank 0",
    what=(
        "Puts a torch.save, torch.jit.save, torch.onnx.export, save_image, numpy.save, save_npz, "
        "OmegaConf.save, or what figures of matplotlib and plotly write, that every rank would run under "
        "`if hvd.rank() == 0:`, and a json, pickle or yaml dump that is the last thing a program does; also "
        "a copy of a file that the same function saves, or of Python source. Other copies, sounds, images "
        "written by cv2, imageio or PIL, and pandas tables are left to you. Tests of the rank around it, "
        "above it, in its callers and decorators count."
    ),
    why="N processes that write the same file at once corrupt it.",
    safety=(
        "Safe in a single-process script: the weights are the same on all ranks. Needed in a DDP "
        "script, where every rank already wrote, and for copies. Where an argument calls the script's own functions that do more than compute a "
        "result, all ranks still compute it; several such arguments are left to you, and so are "
        "h5py files."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            loss.backward()
            optimizer.step()
            torch.save(model.state_dict(), "model.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            loss.backward()
            optimizer.step()
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import h5py
            import pandas as pd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            text = pd.DataFrame(losses).to_csv()
            """,
            reason="nothing is written",
        ),
    ),
)
