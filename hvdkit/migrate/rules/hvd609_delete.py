"""HVD609: files that all ranks share are deleted by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import given
from hvdkit.migrate.facts.guards import Where, caught, where_runs
from hvdkit.migrate.facts.launch_needs import has_rank
from hvdkit.migrate.facts.samples import reads_sample
from hvdkit.migrate.facts.training import only_single, trained_by
from hvdkit.migrate.facts.writers import needed_everywhere, own_file
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

DELETES = ("os.remove", "os.unlink")


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*DELETES):
        names, call = site.names, site.node
        statement, path = names.statement(call), given(call, 0, "path")
        if "horovod" in facts.kinds(names) or not trained_by(facts, names, call) or path is None:
            continue
        if where_runs(facts, names, call) is not Where.ALL or caught(names, call):
            continue
        if reads_sample(facts, names, call) or own_file(facts, names, path):
            continue
        alone = isinstance(statement, ast.Expr) and statement.value is call
        if alone and has_rank(facts, names, statement) and not needed_everywhere(facts, names, call):
            make = facts.safe if only_single(facts, names) else facts.suggested
            message = "every rank would delete this file, and the second finds none; rank 0 deletes it"
            condition = f"{facts.hvd(names)}.rank() == 0"
            yield make("HVD609", names, call, message, edits.guard, names.source, [statement], condition)


RULE = Rule(
    id="HVD609",
    title="files are deleted by rank 0",
    what="Puts an os.remove or os.unlink that every rank would run under `if hvd.rank() == 0:`.",
    why="All ranks see that an old checkpoint is there; one deletes it, and the others stop with FileNotFoundError.",
    safety=(
        "Safe in a script that was single-process. Suggested in a DDP script, where every rank deleted already. Not "
        "touched: a file of one rank, what stands in a `try` that deals with the error, and what runs before Horovod."
    ),
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch

            def keep_one(step):
                old = f"model_{step - 1}.pt"
                if os.path.exists(old):
                    os.remove(old)

            for step, batch in enumerate(batches):
                model(batch).sum().backward()
                optimizer.step()
                keep_one(step)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            def keep_one(step):
                old = f"model_{step - 1}.pt"
                if os.path.exists(old):
                    if hvd.rank() == 0:
                        os.remove(old)

            for step, batch in enumerate(batches):
                model(batch).sum().backward()
                optimizer.step()
                keep_one(step)
            """,
        ),
        Change(
            """\
            import os
            import torch

            try:
                for step, batch in enumerate(batches):
                    model(batch).sum().backward()
                    optimizer.step()
                    os.remove(f"model_{step - 1}.pt")
            except KeyboardInterrupt:
                print("stopped")
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            try:
                for step, batch in enumerate(batches):
                    model(batch).sum().backward()
                    optimizer.step()
                    if hvd.rank() == 0:
                        os.remove(f"model_{step - 1}.pt")
            except KeyboardInterrupt:
                print("stopped")
            """,
            note="What deals with Ctrl-C does not deal with a file that is gone.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import tempfile
            import torch
            import torch.distributed as dist

            try:
                os.remove("last.pt")
            except FileNotFoundError:
                pass
            if dist.get_rank() == 0:
                os.remove("old.pt")
            os.remove(f"part_{dist.get_rank()}.pt")
            handle, name = tempfile.mkstemp()
            os.unlink(name)
            loss.backward()
            optimizer.step()
            """,
            reason="the error is dealt with, rank 0 deletes it, or each rank has a file of its own",
            suggested=True,
        ),
        Keep(
            """\
            import os
            import torch

            class Data(torch.utils.data.Dataset):
                def __getitem__(self, index):
                    os.remove(f"{index}.lock")
                    return index

            for x in torch.utils.data.DataLoader(Data()):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="each rank reads samples of its own",
        ),
        Keep(
            """\
            import os
            import torch

            def clear(path):
                os.remove(path)

            clear("cache.pt")
            """,
            reason="nothing is trained: one process runs it",
        ),
    ),
)
