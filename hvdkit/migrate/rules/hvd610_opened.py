"""HVD610: a file that all ranks write while they do more is written by rank 0; the others open nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.opened_everywhere import Opened, opened_everywhere
from hvdkit.migrate.facts.files.texts import text_block
from hvdkit.migrate.facts.files.writers import unguarded_writers, whole_statement
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for writer in unguarded_writers(facts):
        if whole_statement(facts, writer) is not None or text_block(facts, writer):
            continue  # HVD601, HVD607
        opened = opened_everywhere(facts, writer)
        if opened is not None:
            message = "every rank would write this file; rank 0 writes it, what the others write goes nowhere"
            yield facts.suggested("HVD610", writer.names, opened.path, message, _edits, facts, opened)


def _edits(facts: Facts, opened: Opened) -> list[Edit]:
    """Another path for the other ranks, and where the file is read below, a barrier."""
    source, hvd = opened.names.source, facts.hvd(opened.names)
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
        'Has the ranks but 0 open os.devnull in place of a file, where `with open(path, "w") as file:`, or the lines '
        "from `file = open(...)` to `file.close()`, do more than to write: the block computes what is used below, or "
        "calls what all ranks have to run. Where the training may read the file afterwards, all wait for rank 0."
    ),
    why="N processes open the same file: each empties it, or their lines come N times and mixed.",
    safety=(
        "Suggested: the file then tells what rank 0 has seen, and hosts that share no disk find it on rank 0's alone. "
        "Only where the file is written to and nothing else. A file that is read is touched only where all ranks come "
        "by as often as each other: no test around it asks for losses, the clock or what lies on a disk."
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
        Change(
            """\
            import csv
            import json
            import os
            import torch

            def evaluate(epoch):
                with open(os.path.join(args.folder, "dev.json"), "w") as file:
                    answers = [model(x) for x in rest]
                    json.dump(answers, file)
                return score(answers, args.folder + "/dev.json")

            def main():
                log = open("rows.csv", "w")
                rows = csv.writer(log)
                for epoch in range(3):
                    for x in batches:
                        model(x).sum().backward()
                        optimizer.step()
                    if args.evaluate and epoch % 2 == 0:
                        rows.writerow([evaluate(epoch)])
                log.close()

            main()
            """,
            """\
            import csv
            import json
            import os
            import horovod.torch as hvd
            import torch

            def evaluate(epoch):
                with open(os.path.join(args.folder, "dev.json") if hvd.rank() == 0 else os.devnull, "w") as file:
                    answers = [model(x) for x in rest]
                    json.dump(answers, file)
                hvd.barrier()
                return score(answers, args.folder + "/dev.json")

            def main():
                log = open("rows.csv" if hvd.rank() == 0 else os.devnull, "w")
                rows = csv.writer(log)
                for epoch in range(3):
                    for x in batches:
                        model(x).sum().backward()
                        optimizer.step()
                    if args.evaluate and epoch % 2 == 0:
                        rows.writerow([evaluate(epoch)])
                log.close()

            main()
            """,
            suggested=True,
            note="What is read below is there for all ranks when rank 0 has written it.",
        ),
        Change(
            """\
            import torch

            for number in range(2):
                with open("part_{}.txt".format(number), "w") as file:
                    answers = model(parts[number])
                    file.write(str(answers))
                print(score(answers, "part_{}.txt".format(number)))
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import os

            for number in range(2):
                with open("part_{}.txt".format(number) if hvd.rank() == 0 else os.devnull, "w") as file:
                    answers = model(parts[number])
                    file.write(str(answers))
                hvd.barrier()
                print(score(answers, "part_{}.txt".format(number)))
            model(x).sum().backward()
            optimizer.step()
            """,
            suggested=True,
            note="Each round has a file of its own: rank 0 does not write again what another still reads.",
        ),
    ),
    keeps=(
        *(
            Keep(
                f"""\
            import os
            import time
            import torch

            def main():
                loss = None
                for x in batches:
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()
                {above}
                for number in range({rounds}):
                    {test}:
                        with open("dev.txt", "w") as file:
                            answers = [model(x) for x in rest]
                            file.write(str(answers))
                        print(score(answers, "dev.txt"))

            main()
            """,
                reason=reason,
                suggested=True,
            )
            for above, rounds, test, reason in (
                ("pass", "2", "if args.test", "rank 0 may write again what another rank still reads"),
                (
                    "pass",
                    "answer()",
                    "if loss.item() < 1",
                    "one rank may come by where another does not",
                ),
                ("pass", "2", "if not os.path.exists('dev.txt')", "what lies on the disk changes"),
                ("pass", "2", "if not exists('dev.txt')", "so with a function imported by its name"),
                ("pass", "2", "while time.time() < end", "the clocks differ"),
                ("if loss.item() > 1: return", "2", "if args.test", "one rank may have left"),
            )
        ),
        *(
            Keep(
                f"""\
            import torch

            model(x).sum().backward()
            optimizer.step()
            with open("answers.txt", {mode}) as file:
                answers = model(rest)
                {use}
            print(answers)
            """,
                reason=reason,
                suggested=True,
            )
            for mode, use, reason in (
                ('"w"', "keep(file)", "what the function does with the file is not known"),
                ('"w+"', "file.write(str(answers))", "it may be read from, too"),
                ('"x"', "file.write(str(answers))", "os.devnull is there already"),
                ("mode", "file.write(str(answers))", "the mode may be one for reading"),
                ('"r"', "answers = file.read()", "it is read"),
            )
        ),
        Keep(
            """\
            import os
            import torch

            def keep(predictions):
                for one in predictions:
                    name = one["name"] + ".png"
                    with open(os.path.join(args.folder, name), "wb") as file:
                        file.write(one.pop("picture"))

            for x in torch.utils.data.DataLoader(data):
                loss, predictions = model(x)
                loss.backward()
                optimizer.step()
                keep(predictions)
            """,
            reason="files that are named by what each rank computes of its own samples are its own",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            model(x).sum().backward()
            optimizer.step()
            with open("answers.txt", "w") as file:
                answers = model(rest)
                file.write(str(answers))
            print(answers)
            """,
            reason="in a distributed program each rank may have a part of the answers",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            model(x).sum().backward()
            optimizer.step()
            for part in (rest, more):
                with open(args.answers, "w") as file:
                    answers = model(part)
                    file.write(str(answers))
                print(score(answers, args.answers))
            with open(args.answers, "w") as file:
                answers = model(x)
                file.write(str(answers))
            print(score(answers, args.answers))
            """,
            reason="rank 0 may write the file again while another rank reads what was there",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            model(x).sum().backward()
            optimizer.step()
            file = open("answers.txt", "w")
            answers = model(rest)
            file.write(str(answers))
            file.close()
            print(answers, file)
            """,
            reason="the file is used below its end",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            model(x).sum().backward()
            optimizer.step()
            with open("score.txt", "w") as file:
                file.write(str(score))
            """,
            reason="all it does is to write a text: HVD607",
            suggested=True,
        ),
    ),
)
