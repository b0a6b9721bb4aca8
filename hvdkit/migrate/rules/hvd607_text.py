"""HVD607: logs and settings that a `with open(...)` writes are written by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.texts import text_block
from hvdkit.migrate.facts.files.writers import unguarded_writers, whole_statement
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[Names, list[ast.stmt]] = {}
    for writer in unguarded_writers(facts):
        names = writer.names
        kinds = facts.kinds(names)
        if "horovod" in kinds or not kinds & {"ddp", "single"} or whole_statement(facts, writer) is not None:
            continue
        row = text_block(facts, writer)
        if row:
            found.setdefault(names, []).extend(row)
    for names, blocks in found.items():
        condition = f"{facts.hvd(names)}.rank() == 0"
        for row in edits.rows(names, list(dict.fromkeys(blocks))):
            message = "every rank would write this text; rank 0 writes it"
            yield facts.suggested("HVD607", names, row[0], message, edits.guard, names.source, row, condition)


RULE = Rule(
    id="HVD607",
    title="text files are written by rank 0",
    what=(
        'Puts a `with open(path, "w")` (or append) under `if hvd.rank() == 0:` that every rank would run, and the '
        'lines from `file = open(path, "w")` to `file.close()`, where all they do is to write texts, csv rows, json, '
        'yaml or pickles; and a `json.dump(what, open(path, "w"))`.'
    ),
    why="N processes open the same log: each empties it, or their lines come N times and mixed.",
    safety=(
        "Suggested: the log then tells what rank 0 has seen. Not touched: a block that calls what other ranks may "
        "have to run, too, or whose names are used below, and a file whose name stands where it may be read."
    ),
    check=check,
    changes=(
        Change(
            """\
            import csv
            from pathlib import Path

            import torch

            log = Path(args.out) / "log.csv"
            if not log.exists():
                with log.open("w", newline="") as file:
                    csv.writer(file).writerow(["epoch", "loss"])
            for epoch in range(3):
                loss.backward()
                optimizer.step()
                with log.open("a", newline="") as file:
                    csv.writer(file).writerow([epoch, loss.item()])
            """,
            """\
            import csv
            from pathlib import Path

            import horovod.torch as hvd
            import torch

            log = Path(args.out) / "log.csv"
            if not log.exists():
                if hvd.rank() == 0:
                    with log.open("w", newline="") as file:
                        csv.writer(file).writerow(["epoch", "loss"])
            for epoch in range(3):
                loss.backward()
                optimizer.step()
                if hvd.rank() == 0:
                    with log.open("a", newline="") as file:
                        csv.writer(file).writerow([epoch, loss.item()])
            """,
            note="A Path opens as open() does.",
            suggested=True,
        ),
        Change(
            """\
            import codecs
            import torch
            from io import open

            loss.backward()
            optimizer.step()
            with open("score.txt", "w") as file:
                file.write(str(loss.item()))
            with codecs.open("words.txt", "w", encoding="utf-8") as file:
                file.write(words)
            """,
            """\
            import codecs
            import horovod.torch as hvd
            import torch
            from io import open

            loss.backward()
            optimizer.step()
            if hvd.rank() == 0:
                with open("score.txt", "w") as file:
                    file.write(str(loss.item()))
                with codecs.open("words.txt", "w", encoding="utf-8") as file:
                    file.write(words)
            """,
            suggested=True,
            note="What scripts for Python 2 as well have in place of the builtin.",
        ),
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
        Change(
            """\
            import os
            import torch

            loss.backward()
            optimizer.step()
            path = os.path.join(args.folder, "args.txt")
            print("settings are in", path)
            with open(path, "w") as file:
                for key in sorted(vars(args)):
                    value = getattr(args, key)
                    file.write("{} = {}\\n".format(key, value))
            with open(os.path.join(args.folder, "config.txt"), "w") as file:
                file.write(str(config))
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            loss.backward()
            optimizer.step()
            path = os.path.join(args.folder, "args.txt")
            print("settings are in", path)
            if hvd.rank() == 0:
                with open(path, "w") as file:
                    for key in sorted(vars(args)):
                        value = getattr(args, key)
                        file.write("{} = {}\\n".format(key, value))
                with open(os.path.join(args.folder, "config.txt"), "w") as file:
                    file.write(str(config))
            """,
            suggested=True,
        ),
        Change(
            """\
            import json
            import torch

            class Settings:
                def to_dict(self):
                    return {key: str(value) for key, value in vars(self).items()}

            settings = Settings()
            loss.backward()
            optimizer.step()
            with open("log.txt", "a") as first, open("settings.json", "w") as second:
                if first.tell() == 0:
                    print("loss", file=first)
                first.write(str(loss.item()))
                second.write(json.dumps(settings.to_dict()))
            """,
            """\
            import json
            import horovod.torch as hvd
            import torch

            class Settings:
                def to_dict(self):
                    return {key: str(value) for key, value in vars(self).items()}

            settings = Settings()
            loss.backward()
            optimizer.step()
            if hvd.rank() == 0:
                with open("log.txt", "a") as first, open("settings.json", "w") as second:
                    if first.tell() == 0:
                        print("loss", file=first)
                    first.write(str(loss.item()))
                    second.write(json.dumps(settings.to_dict()))
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch

            def test(scores):
                file = open("scores.txt", "a")
                file.write(str(scores))
                file.write("\\n")
                file.close()
                return scores

            loss.backward()
            optimizer.step()
            test([loss.item()])
            """,
            """\
            import horovod.torch as hvd
            import torch

            def test(scores):
                if hvd.rank() == 0:
                    file = open("scores.txt", "a")
                    file.write(str(scores))
                    file.write("\\n")
                    file.close()
                return scores

            loss.backward()
            optimizer.step()
            test([loss.item()])
            """,
            suggested=True,
            note="From where it is opened to where it is closed.",
        ),
        Change(
            """\
            import json
            import pickle
            import torch

            def write(things, path):
                with open(path, "wb") as file:
                    pickle.dump(things, file)

            with open("names.json", "w") as file:
                file.write(json.dumps(names))
            json.dump(vars(args), open(args.out + "/settings.json", "w"), indent=2)
            loss.backward()
            optimizer.step()
            write(names, "names.pkl")
            print("done")
            """,
            """\
            import json
            import pickle
            import horovod.torch as hvd
            import torch

            def write(things, path):
                if hvd.rank() == 0:
                    with open(path, "wb") as file:
                        pickle.dump(things, file)

            if hvd.rank() == 0:
                with open("names.json", "w") as file:
                    file.write(json.dumps(names))
                json.dump(vars(args), open(args.out + "/settings.json", "w"), indent=2)
            loss.backward()
            optimizer.step()
            write(names, "names.pkl")
            print("done")
            """,
            suggested=True,
            note="Another program reads one of them: it runs later.",
            files=(("predict.py", "import json\n\nnames = json.load(open('names.json'))\n"),),
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
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Table:
                def __init__(self, path):
                    self.path = path

                def add(self, row):
                    with open(self.path, "a") as file:
                        file.write(row)

            dist.init_process_group("nccl")
            model = DDP(net)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            table = Table(f"log_r{dist.get_rank()}.csv")
            loss.backward()
            optimizer.step()
            table.add("done")
            """,
            reason="each rank keeps a file of its own: its rank is in the path that the table is given",
            suggested=True,
        ),
        Keep(
            """\
            import pickle
            import torch

            def write(things, path):
                with open(path, "wb") as file:
                    pickle.dump(things, file)

            loss.backward()
            optimizer.step()
            write(words, "words.pkl")
            with open("words.pkl", "rb") as file:
                words = pickle.load(file)
            pickle.dump(settings, open("settings.pkl", "wb"))
            settings = pickle.load(open("settings.pkl", "rb"))
            """,
            reason="what the function is given as its path is read again, and so are the settings",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            loss.backward()
            optimizer.step()
            file = open("log.txt", "a")
            file.write("done")
            file.close()
            print(file.closed)
            """,
            reason="the file is used below it",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            def tell(scores):
                with open("log.txt", "a") as file:
                    file.write(str(scores))
                    return len(scores)

            loss.backward()
            optimizer.step()
            tell(scores)
            """,
            reason="the others would not return",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def main(args):
                with open("args.txt", "w") as file:
                    file.write(str(args))
                dist.init_process_group("nccl")
                model = DDP(net)

            main(args)
            """,
            reason="there is no rank yet",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            loss.backward()
            optimizer.step()
            with open("log.txt", "a") as file:
                file.write(str(loss.item()))
            """,
            reason="it is one of the things to ask for: --suggested",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def evaluate():
                return metric(model(data))

            loss.backward()
            optimizer.step()
            with open("log.txt", "a") as file:
                file.write(str(evaluate()))
            """,
            reason="the model runs inside: all ranks may have to",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            loss.backward()
            optimizer.step()
            with open("vocabulary.txt", "w") as file:
                file.write(text)
            words = load("vocabulary.txt")
            """,
            reason="the file is read again: a rank could come before it is there",
            suggested=True,
        ),
        Keep(
            """\
            import torch

            loss.backward()
            optimizer.step()
            with open(args.names, "w") as file:
                count = len(names)
                file.write(str(count))
            print(count)
            """,
            reason="what the block computes is used below it",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            loss.backward()
            optimizer.step()
            if dist.get_rank() == 0:
                with open("log.txt", "a") as file:
                    file.write("done")
            with open(f"log.{dist.get_rank()}.txt", "a") as file:
                file.write("done")
            """,
            reason="one is guarded already, and the other is a file of each rank's own",
            suggested=True,
        ),
    ),
)
