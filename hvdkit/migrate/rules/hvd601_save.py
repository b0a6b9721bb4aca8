"""HVD601: checkpoints and other files are written on rank 0 only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.collective_edits import fresh
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.training import only_single, trained_by
from hvdkit.migrate.facts.files.kept import kept_statement
from hvdkit.migrate.facts.files.opened_everywhere import opened_everywhere
from hvdkit.migrate.facts.files.texts import text_block
from hvdkit.migrate.facts.files.vocabulary import DUMPS, OPEN
from hvdkit.migrate.facts.files.writers import (
    Writer,
    needed_everywhere,
    unguarded_writers,
    whole_statement,
)
from hvdkit.migrate.facts.launch.launch_needs import written_by_starter
from hvdkit.migrate.facts.launch.starts import started
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    found: dict[tuple[Names, bool, bool], list[ast.stmt]] = {}
    for writer in unguarded_writers(facts):
        names = writer.names
        kinds = facts.kinds(names)
        if writer.log or "horovod" in kinds or not kinds & {"ddp", "single"}:
            continue
        statement = whole_statement(facts, writer) or kept_statement(facts, writer)
        if statement is None and (text_block(facts, writer) or opened_everywhere(facts, writer)):
            continue  # HVD607, HVD610
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
            message = "every rank computes what is written, as all may have to; rank 0 writes it"
            yield facts.safe("HVD601", names, writer.node, message, _compute_above, facts, writer, computed)
            continue
        short = writer.name.rpartition(".")[2]
        message = f"every rank would write the file of this {short}"
        if by_starter:
            message += ", which the process that started them wrote once"
        advice = (
            f"put the writing under `if {facts.hvd(names)}.rank() == 0:`, what all ranks have to run outside, "
            "and a barrier before the file is read"
        )
        yield facts.manual("HVD601", names, writer.node, message, advice)
    for (names, ask, copied), statements in found.items():
        make = facts.safe if only_single(facts, names) and not copied else facts.suggested
        for row in edits.rows(names, list(dict.fromkeys(statements))):
            message = "every rank would write this file; rank 0 writes it"
            hvd = facts.hvd(names)
            condition = f"not {hvd}.is_initialized() or {hvd}.rank() == 0" if ask else f"{hvd}.rank() == 0"
            yield make("HVD601", names, row[0], message, edits.guard, names.source, row, condition)


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
    variable, indent = fresh(names, "written"), source.indent(statement.lineno)
    above = f"{variable} = {source.segment(computed)}{source.newline}{indent}"
    guarded = edits.enclose(source, [statement], f"{above}if {facts.hvd(names)}.rank() == 0:")
    return [*guarded, edits.replace(source, computed, variable)]


RULE = Rule(
    id="HVD601",
    title="files are written by rank 0",
    what=(
        "Puts a torch.save, torch.jit.save, torch.onnx.export, save_image, numpy.save, save_npz, OmegaConf.save, or "
        "what figures of matplotlib and plotly write, that every rank would run under `if hvd.rank() == 0:`, and a json, pickle or "
        "yaml dump that is the last thing a program does; also a copy of a file that the same function saves, of "
        "Python source, or under a name that stands nowhere else. So with a sound, a picture of cv2's, imageio's or "
        "PIL's, and a table of pandas, where nothing reads what lies in the folder, either. Tests of the rank around it, above it, in its "
        "callers and decorators count."
    ),
    why="N processes writing one file at once leave a broken one.",
    safety=(
        "Safe in a script that was single-process: the weights are the same on all ranks. Suggested in a DDP "
        "script, where every rank wrote already, and for copies, sounds, pictures and tables. Where an argument runs the script's own functions, and not such "
        "that only compute what they return, all ranks go on computing it; several such arguments are left to the "
        "person, and so is a sound, a picture or a table whose folder may be read, and a file of h5py's."
    ),
    check=check,
    changes=(
        Change(
            """\
            import glob
            import os
            import cv2
            import pandas as pd
            import soundfile as sf
            import torch
            from PIL import Image

            def folder(path):
                os.makedirs(path, exist_ok=True)

            class Trainer:
                def __init__(self, out):
                    self.out = out
                    folder(os.path.join(self.out, "seen"))

                def weights(self):
                    return sorted(glob.glob(os.path.join(self.out, "weights", "*.pt")))

                def train(self):
                    for epoch in range(3):
                        loss = net(x).sum()
                        loss.backward()
                        optimizer.step()
                        cv2.imwrite(os.path.join(self.out, "seen", "%d.png" % epoch), x.numpy())
                        Image.fromarray(x.numpy()).save(f"{self.out}/seen/{epoch}.jpg")
                    table = self.out + "/losses.csv"
                    pd.DataFrame(losses).to_csv(table, index=False)
                    print("losses are in", table)
                    path = os.path.join(self.out, "first.wav")
                    sf.write(path, x, 16000)
                    path = os.path.join(self.out, "last.wav")
                    sf.write(path, y, 16000)

            Trainer(args.out).train()
            """,
            """\
            import glob
            import os
            import cv2
            import pandas as pd
            import soundfile as sf
            import horovod.torch as hvd
            import torch
            from PIL import Image

            def folder(path):
                os.makedirs(path, exist_ok=True)

            class Trainer:
                def __init__(self, out):
                    self.out = out
                    folder(os.path.join(self.out, "seen"))

                def weights(self):
                    return sorted(glob.glob(os.path.join(self.out, "weights", "*.pt")))

                def train(self):
                    for epoch in range(3):
                        loss = net(x).sum()
                        loss.backward()
                        optimizer.step()
                        if hvd.rank() == 0:
                            cv2.imwrite(os.path.join(self.out, "seen", "%d.png" % epoch), x.numpy())
                            Image.fromarray(x.numpy()).save(f"{self.out}/seen/{epoch}.jpg")
                    table = self.out + "/losses.csv"
                    if hvd.rank() == 0:
                        pd.DataFrame(losses).to_csv(table, index=False)
                    print("losses are in", table)
                    path = os.path.join(self.out, "first.wav")
                    if hvd.rank() == 0:
                        sf.write(path, x, 16000)
                    path = os.path.join(self.out, "last.wav")
                    if hvd.rank() == 0:
                        sf.write(path, y, 16000)

            Trainer(args.out).train()
            """,
            suggested=True,
            note="The weights are looked for in another folder, and nothing reads these files.",
        ),
        Change(
            """\
            import torch
            from datetime import datetime

            def stamp():
                return str(datetime.now())[:-10].replace(" ", "-")

            def kept(path):
                return path.replace("last.pt")

            for epoch in range(10):
                model(x).sum().backward()
                optimizer.step()
                torch.save(model.state_dict(), "model_{}.pt".format(stamp()))
                torch.save(model.state_dict(), kept(path))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from datetime import datetime

            def stamp():
                return str(datetime.now())[:-10].replace(" ", "-")

            def kept(path):
                return path.replace("last.pt")

            for epoch in range(10):
                model(x).sum().backward()
                optimizer.step()
                if hvd.rank() == 0:
                    torch.save(model.state_dict(), "model_{}.pt".format(stamp()))
                # hvdkit: TODO[HVD601] put the writing under `if hvd.rank() == 0:`, what all ranks have to run outside, and a barrier before the file is read
                torch.save(model.state_dict(), kept(path))
            """,
            note="The first function only computes a name; the second one moves a file.",
        ),
        Change(
            """\
            import torch
            from torchvision.utils import save_image

            generator = torch.nn.Linear(4, 64)
            for epoch in range(3):
                loss = generator(noise).sum()
                loss.backward()
                optimizer.step()
                save_image(generator(noise).view(16, 1, 8, 8), "images/%d.png" % epoch, nrow=4,
                           normalize=True)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torchvision.utils import save_image

            generator = torch.nn.Linear(4, 64)
            for epoch in range(3):
                loss = generator(noise).sum()
                loss.backward()
                optimizer.step()
                written = generator(noise).view(16, 1, 8, 8)
                if hvd.rank() == 0:
                    save_image(written, "images/%d.png" % epoch, nrow=4,
                               normalize=True)
            """,
            note="The model runs on all ranks, as it may have a state that has to stay the same.",
            files=(),
        ),
        Change(
            """\
            import numpy as np
            import torch
            from torchvision.utils import save_image

            to_bytes = lambda x: (255 * np.clip(x, 0, 1)).astype(np.uint8)

            def denorm(x):
                out = (x + 1) / 2
                return out.clamp(0, 1)

            loss.backward()
            optimizer.step()
            save_image(denorm(images), "images.png")
            np.save("bytes.npy", to_bytes(pixels))
            """,
            """\
            import numpy as np
            import horovod.torch as hvd
            import torch
            from torchvision.utils import save_image

            to_bytes = lambda x: (255 * np.clip(x, 0, 1)).astype(np.uint8)

            def denorm(x):
                out = (x + 1) / 2
                return out.clamp(0, 1)

            loss.backward()
            optimizer.step()
            if hvd.rank() == 0:
                save_image(denorm(images), "images.png")
                np.save("bytes.npy", to_bytes(pixels))
            """,
            note="What these functions do is to compute: rank 0 may do so without the others.",
        ),
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
        Change(
            """\
            import torch

            loss.backward()
            optimizer.step()
            with open("model.pt", "wb") as file:
                torch.save(model.state_dict(), file)
            torch.save(optimizer.state_dict(), "optimizer.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            loss.backward()
            optimizer.step()
            if hvd.rank() == 0:
                with open("model.pt", "wb") as file:
                    torch.save(model.state_dict(), file)
                torch.save(optimizer.state_dict(), "optimizer.pt")
            """,
            note="Opening a file for writing empties it, so the opening is guarded, too.",
        ),
        Change(
            """\
            import torch
            from matplotlib import pyplot as plt

            loss.backward()
            optimizer.step()
            figure, axes = plt.subplots()
            axes.plot(losses)
            figure.savefig("losses.png")
            """,
            """\
            import horovod.torch as hvd
            import torch
            from matplotlib import pyplot as plt

            loss.backward()
            optimizer.step()
            figure, axes = plt.subplots()
            axes.plot(losses)
            if hvd.rank() == 0:
                figure.savefig("losses.png")
            """,
        ),
        Change(
            """\
            import shutil
            import torch

            def save(state, best, path):
                torch.save(state, path)
                if best:
                    shutil.copyfile(path, "best.pt")

            loss.backward()
            optimizer.step()
            save(model.state_dict(), True, "last.pt")
            """,
            """\
            import shutil
            import horovod.torch as hvd
            import torch

            def save(state, best, path):
                if hvd.rank() == 0:
                    torch.save(state, path)
                if best:
                    if hvd.rank() == 0:
                        shutil.copyfile(path, "best.pt")

            loss.backward()
            optimizer.step()
            save(model.state_dict(), True, "last.pt")
            """,
            note="The other ranks would copy what rank 0 has not written yet.",
        ),
        Change(
            """\
            import shutil
            import torch

            shutil.copy("models/%s.py" % args.model, str(folder))
            loss.backward()
            optimizer.step()
            """,
            """\
            import shutil
            import horovod.torch as hvd
            import torch

            if hvd.rank() == 0:
                shutil.copy("models/%s.py" % args.model, str(folder))
            loss.backward()
            optimizer.step()
            """,
            note="Source that is kept with the results: only a person reads it.",
        ),
        Change(
            """\
            import shutil
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.nn.parallel import DistributedDataParallel as DDP

            def keep(settings, name, folder):
                shutil.copyfile(settings, f"{folder}/{name}")

            def worker(gpu, count):
                dist.init_process_group("gloo", rank=gpu, world_size=count)
                model = DDP(net)
                loss.backward()

            def main(args):
                keep(args.settings, "settings.yaml", args.out)
                mp.spawn(worker, args=(4,), nprocs=4)

            main(parse())
            """,
            """\
            import shutil
            import horovod.torch as hvd
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.nn.parallel import DistributedDataParallel as DDP

            def keep(settings, name, folder):
                if hvd.rank() == 0:
                    shutil.copyfile(settings, f"{folder}/{name}")

            def worker(gpu, count):
                dist.init_process_group("gloo", rank=gpu, world_size=count)
                model = DDP(net)
                loss.backward()

            def main(args):
                keep(args.settings, "settings.yaml", args.out)
                mp.spawn(worker, args=(4,), nprocs=4)

            main(parse())
            """,
            note="A copy whose name stands nowhere else in the program. HVD101 puts hvd.init() above the call.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            for epoch in range(10):
                loss.backward()
                if epoch % 5:
                    torch.save(model.state_dict(), "model.pt")
                if dist.get_world_size() > 1:
                    torch.save(model.state_dict(), "last.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            for epoch in range(10):
                loss.backward()
                if epoch % 5:
                    if hvd.rank() == 0:
                        torch.save(model.state_dict(), "model.pt")
                if dist.get_world_size() > 1:
                    if hvd.rank() == 0:
                        torch.save(model.state_dict(), "last.pt")
            """,
            note=(
                "A test of the epoch alone leaves every rank writing; a size of more than one is not rank 0."
            ),
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            rank = dist.get_rank()
            model = DDP(net)
            loss.backward()
            if rank // 8 == 0:
                torch.save(model.state_dict(), "a.pt")
            for part in range(2):
                is_first = part == 0
                if is_first:
                    torch.save(model.state_dict(), "b.pt")
            for is_last in (False, True):
                if is_last:
                    torch.save(model.state_dict(), "c.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            rank = dist.get_rank()
            model = DDP(net)
            loss.backward()
            if rank // 8 == 0:
                if hvd.rank() == 0:
                    torch.save(model.state_dict(), "a.pt")
            for part in range(2):
                is_first = part == 0
                if is_first:
                    if hvd.rank() == 0:
                        torch.save(model.state_dict(), "b.pt")
            for is_last in (False, True):
                if is_last:
                    if hvd.rank() == 0:
                        torch.save(model.state_dict(), "c.pt")
            """,
            note=(
                "A number within a node, or of a node, is 0 on several ranks; what a loop gives is no rank."
            ),
            suggested=True,
        ),
        Change(
            """\
            import json
            import torch

            def main(path):
                losses = []
                for x in batches:
                    loss = model(x)
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                with open(path, "w") as file:
                    json.dump(losses, file)

            if __name__ == "__main__":
                main("losses.json")
            """,
            """\
            import json
            import horovod.torch as hvd
            import torch

            def main(path):
                losses = []
                for x in batches:
                    loss = model(x)
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                if hvd.rank() == 0:
                    with open(path, "w") as file:
                        json.dump(losses, file)

            if __name__ == "__main__":
                main("losses.json")
            """,
            note="Nothing runs after it that could read the file too early.",
        ),
        Change(
            """\
            import json
            from pathlib import Path
            import torch

            model(x).sum().backward()
            optimizer.step()
            results = Path("results.json")
            with results.open("w") as file:
                json.dump(scores, file)
            """,
            """\
            import json
            from pathlib import Path
            import horovod.torch as hvd
            import torch

            model(x).sum().backward()
            optimizer.step()
            results = Path("results.json")
            if hvd.rank() == 0:
                with results.open("w") as file:
                    json.dump(scores, file)
            """,
            note="A Path opens files, too.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            first = True
            if dist.get_world_size() > 1:
                first = dist.get_rank() == 0
            second = True
            if verbose:
                second = dist.get_rank() == 0
            model = DDP(net)
            loss.backward()
            if first:
                torch.save(model.state_dict(), "first.pt")
            if second:
                torch.save(model.state_dict(), "second.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            first = True
            if dist.get_world_size() > 1:
                first = dist.get_rank() == 0
            second = True
            if verbose:
                second = dist.get_rank() == 0
            model = DDP(net)
            loss.backward()
            if first:
                torch.save(model.state_dict(), "first.pt")
            if second:
                if hvd.rank() == 0:
                    torch.save(model.state_dict(), "second.pt")
            """,
            note="A flag that every job of several processes sets again is the rank's; by another test it is not.",
            suggested=True,
        ),
        Change(
            """\
            import matplotlib.pyplot as plt
            import torch
            import torch.distributed as dist

            def plot(path="losses.txt"):
                plt.plot(read(path))
                plt.savefig("losses.png")

            def main():
                dist.init_process_group("gloo")
                model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
                model(x).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                main()
            """,
            """\
            import matplotlib.pyplot as plt
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def plot(path="losses.txt"):
                plt.plot(read(path))
                if not hvd.is_initialized() or hvd.rank() == 0:
                    plt.savefig("losses.png")

            def main():
                dist.init_process_group("gloo")
                model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
                model(x).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                main()
            """,
            note="What nobody is seen to call may be called by hand, where Horovod does not run.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def save(model):
                torch.save(model.state_dict(), "model.pt")

            def main():
                dist.init_process_group("gloo")
                model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
                model(x).sum().backward()
                save(model)

            if __name__ == "__main__":
                main()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def save(model):
                if not hvd.is_initialized() or hvd.rank() == 0:
                    torch.save(model.state_dict(), "model.pt")

            def main():
                dist.init_process_group("gloo")
                model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
                model(x).sum().backward()
                save(model)

            if __name__ == "__main__":
                main()
            """,
            note="Another script, which never starts Horovod, runs this function, too.",
            suggested=True,
            files=(("convert.py", "import torch\nfrom train import save\n\nsave(torch.nn.Linear(2, 1))\n"),),
        ),
        Change(
            """\
            import torch

            def everything():
                return {"model": model.state_dict()}

            loss.backward()
            optimizer.step()
            torch.save(everything(), "model.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            def everything():
                return {"model": model.state_dict()}

            loss.backward()
            optimizer.step()
            written = everything()
            if hvd.rank() == 0:
                torch.save(written, "model.pt")
            """,
            note="The script's own function may be one that all ranks have to run.",
        ),
        *(
            Change(
                f"""\
            import torch
            from torchvision.utils import save_image

            def shown(x):
                {line}
                return x

            class Shown:
                @staticmethod
                def of(x):
                    return x

            loss.backward()
            optimizer.step()
            save_image({call}, "images.png")
            """,
                f"""\
            import horovod.torch as hvd
            import torch
            from torchvision.utils import save_image

            def shown(x):
                {line}
                return x

            class Shown:
                @staticmethod
                def of(x):
                    return x

            loss.backward()
            optimizer.step()
            written = {call}
            if hvd.rank() == 0:
                save_image(written, "images.png")
            """,
                note=f"All ranks go on running the function: {reason}.",
            )
            for line, call, reason in (
                ("x += 1", "shown(images)", "it changes what it is given"),
                ("x[0] = 1", "shown(images)", "so it does here"),
                ("x.add_(1)", "shown(images)", "and here"),
                ("x = x + torch.rand(1)", "shown(images)", "it draws random numbers"),
                ("torch.manual_seed(1)", "shown(images)", "it sets a seed"),
                ("x = keep(x)", "shown(images)", "what it calls is not known"),
                ("seen.append(x)", "shown(images)", "it keeps something"),
                ("pass", "shown(images)", "a statement that is none of those known"),
                ("x = 2 * x", "Shown.of(images)", "a method may change its object"),
            )
        ),
        Change(
            """\
            import plotly.express as px
            import scipy.sparse
            import torch
            from omegaconf import OmegaConf

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            figure = px.line(losses)
            figure.write_html("losses.html")
            scipy.sparse.save_npz("graph.npz", graph)
            torch.onnx.export(model, x, "model.onnx")
            OmegaConf.save(config, "config.yaml")
            """,
            """\
            import plotly.express as px
            import scipy.sparse
            import horovod.torch as hvd
            import torch
            from omegaconf import OmegaConf

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            figure = px.line(losses)
            if hvd.rank() == 0:
                figure.write_html("losses.html")
                scipy.sparse.save_npz("graph.npz", graph)
                torch.onnx.export(model, x, "model.onnx")
                OmegaConf.save(config, "config.yaml")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch
            import torch.distributed as dist

            distributed = "RANK" in os.environ
            if distributed:
                dist.init_process_group("gloo")
                first, seed = dist.get_rank() == 0, dist.get_rank()
            else:
                first, seed = True, 0

            class Runner:
                def __init__(self):
                    self.rank, self.size = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)

                def save(self):
                    if self.rank == 0:
                        torch.save(model.state_dict(), "a.pt")

            if first:
                torch.save(model.state_dict(), "b.pt")
            Runner().save()
            """,
            reason="the tests are of the rank, which tuples hold, and a lone process is rank 0",
        ),
        *(
            Keep(
                """\
            import os
            import cv2
            import torch

            def folder(path):
                os.makedirs(path, exist_ok=True)

            def read(path):
                return [os.path.join(path, name) for name in sorted(os.listdir(path))]

            folder(args.out)
            for epoch in range(3):
                model(x).sum().backward()
                optimizer.step()
                cv2.imwrite(f"{args.out}/{epoch}.png", x.numpy())
                READ
            """.replace("READ", read),
                reason="the folder with the pictures is read",
                suggested=True,
                reported=True,
            )
            for read in (
                "pictures = read(args.out)",
                "pictures = glob(args.out + '/*.png')",
                "score = distance(args.out, args.data)",
                "out = args.out; score = distance(out)",
            )
        ),
        *(
            Keep(
                f"""\
            import bz2
            import h5py
            import pandas as pd
            import torch
            from PIL import Image

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            {written}
            """,
                reason="it may be read again, on all ranks",
                reported=True,
            )
            for written in (
                "pd.DataFrame(losses).to_csv(place(losses))",
                "Image.fromarray(picture).resize((64, 64)).save(place(picture))",
                'features = h5py.File("features.h5", "w")',
                'stored = bz2.open("stored.bz2", "wb")',
            )
        ),
        *(
            Keep(
                f"""\
            import h5py
            import pandas as pd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            {read}
            """,
                reason="nothing is written",
            )
            for read in (
                "text = pd.DataFrame(losses).to_csv()",
                "text = settings.to_json(2)",
                'features = h5py.File("features.h5")',
                'features = h5py.File("features.h5", "r")',
            )
        ),
        Keep(
            """\
            import json
            import shutil
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from torch.nn.parallel import DistributedDataParallel as DDP

            def worker(gpu, folder):
                dist.init_process_group("gloo", rank=gpu, world_size=4)
                settings = json.load(open(folder + "/settings.json"))
                model = DDP(net)
                loss.backward()

            def main(args):
                shutil.copyfile(args.settings, args.out + "/settings.json")
                mp.spawn(worker, args=(args.out,), nprocs=4)

            main(parse())
            """,
            reason="one process copied the file, and all ranks read it: the others have to wait for it",
            suggested=True,
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torchvision.utils import save_image

            generator = torch.nn.Linear(4, 64)
            loss.backward()
            optimizer.step()
            save_image(generator(noise), name(generator(noise)))
            save_image(fp=next(names), tensor=generator(noise))
            """,
            reason="two arguments may have to be computed on all ranks; or one, after a call that may not move",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.data import InMemoryDataset

            class Molecules(InMemoryDataset):
                def __init__(self, root):
                    super().__init__(root)
                    self.data, self.slices = torch.load(self.processed_paths[0])

                def process(self):
                    torch.save(self.collate(read(self.root)), self.processed_paths[0])

            molecules = Molecules("data")
            loss.backward()
            optimizer.step()
            """,
            reason="every rank reads the file right after its data set has been processed",
        ),
        Keep(
            """\
            import multiprocessing
            import numpy as np
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def export(scores, path):
                np.savez(path, scores)

            dist.init_process_group("gloo")
            model = DDP(net)
            loss.backward()
            mine = cases[dist.get_rank()::dist.get_world_size()]
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                for case in mine:
                    pool.starmap_async(export, ((model(case), f"results/{case}"),))
            for case in mine:
                name = f"scores/{case}"
                np.savez(name, model(case))
            """,
            reason="a pool's process has no rank, and each rank writes what it made of its own share",
            suggested=True,
        ),
        Keep(
            """\
            import multiprocessing
            import numpy as np
            import torch

            def export(scores, path):
                np.save(path, scores)

            loss.backward()
            optimizer.step()
            pool = multiprocessing.Pool(2)
            pool.apply_async(export, (loss.item(), "loss"))
            """,
            reason="the pool's process cannot ask for the rank; what hands the function on can",
            reported=True,
        ),
        Keep(
            """\
            import scipy.io.wavfile
            import soundfile as sf
            import torch

            def keep(sound, path):
                scipy.io.wavfile.write(path, 16000, sound.numpy())

            loss.backward()
            optimizer.step()
            keep(model(x), "heard.wav")
            sf.write("score.wav", sound, 16000)
            """,
            reason="what measures the sounds may read them again, on all ranks",
            reported=True,
        ),
        Keep(
            """\
            import cv2
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            torch.distributed.init_process_group("gloo")
            model = DDP(net)
            loss.backward()
            optimizer.step()
            cv2.imwrite("seen.png", model(x).numpy())
            """,
            reason="every rank of a DDP script wrote the picture before",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler
            from torchvision.utils import save_image

            dist.init_process_group("gloo")
            loader = DataLoader(data, sampler=DistributedSampler(data))

            def keep(picture, name):
                save_image(picture, f"results/{name}.png")

            for name, picture in loader:
                keep(model(picture), name[0])
            """,
            reason="each rank writes the pictures of its own share",
        ),
        Keep(
            """\
            import os
            import tempfile
            import torch

            folder = tempfile.mkdtemp()
            for epoch in range(3):
                loss.backward()
                torch.save(model.state_dict(), os.path.join(folder, f"{epoch}.pt"))
            with tempfile.NamedTemporaryFile() as file:
                torch.save(model, file.name)
                again = torch.load(file.name)
            torch.save(model, "/tmp/model-%d.pt" % os.getpid())
            """,
            reason="each process has such a file for itself, and may read it again",
        ),
        Keep(
            """\
            import tools
            import torch

            def convert(path):
                torch.save(torch.load(path), path + ".new")

            if __name__ == "__main__":
                # convert("model.pt")
                print(tools.VERSION)
            """,
            files=(
                (
                    "tools.py",
                    "import torch.distributed as dist\n\nVERSION = 1\n\n\ndef start():\n"
                    "    dist.init_process_group('gloo')\n",
                ),
            ),
            suggested=True,
            reason="the script starts no ranks: a person who calls it is alone",
        ),
        Keep(
            """\
            import json
            import torch

            model(x).sum().backward()
            optimizer.step()
            with archive.open("a.json") as file, stream.open("r") as other:
                scores = json.load(file)
            """,
            reason="what is opened is a name, or read",
        ),
        Keep(
            """\
            import shutil
            import torch

            shutil.copy("pretrained.pt", folder)
            loss.backward()
            optimizer.step()
            """,
            reason="all ranks copy over each other; whether they all read the copy cannot be seen",
            reported=True,
        ),
        Keep(
            """\
            import shutil
            import sys
            import torch

            shutil.copy("models/net.py", folder)
            sys.path.append(folder)
            loss.backward()
            optimizer.step()
            """,
            reason="the copy is imported",
            reported=True,
        ),
        Keep(
            """\
            import json
            import torch

            loss.backward()
            optimizer.step()
            if not os.path.exists("settings.json"):
                with open("settings.json", "w") as file:
                    json.dump(settings, file)
            model.load(json.load(open("settings.json")))
            """,
            reason="the file is read again: a rank could come before it is there, and may not come by this test",
            reported=True,
        ),
        Keep(
            """\
            import torch

            loss.backward()
            optimizer.step()
            file = open("log.txt", "a")
            file.write(str(loss.item()))
            """,
            reason="where the writing ends cannot be seen",
            reported=True,
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
            """,
            reason="no rank comes to it",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            if dist.get_rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
            reason="it is guarded already",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            torch.save(state, "model.pt")
            dist.barrier()
            """,
            reason="every rank of this DDP script wrote already: guarded with --suggested",
            reported=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            path = f"rank{dist.get_rank()}.pt"
            torch.save(state, path)
            """,
            reason="every rank has a file of its own",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.multiprocessing import Process

            def run(rank, args):
                dist.init_process_group("gloo", rank=rank, world_size=2)
                path = "samples_%d.pt" % args.local_rank
                torch.save(samples, path)

            args = parser.parse_args()
            for rank in range(2):
                args.local_rank = rank
                Process(target=run, args=(rank, args)).start()
            """,
            reason="... named by the number that a loop gives to each process",
            suggested=True,
        ),
        Keep(
            """\
            import io
            import torch

            loss.backward()
            memory = io.BytesIO()
            torch.save(model.state_dict(), memory)
            """,
            reason="it writes no file",
        ),
        Keep(
            """\
            import torch
            from util import save_on_master

            loss.backward()
            save_on_master(model.state_dict(), "model.pt")
            """,
            reason="the helper tests the rank",
            files=(
                (
                    "util.py",
                    """\
import torch
import torch.distributed as dist

def get_rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()

def is_main_process():
    return get_rank() == 0

def save_on_master(*args, **kwargs):
    if is_main_process():
        torch.save(*args, **kwargs)
""",
                ),
            ),
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def start(args):
                dist.init_process_group("nccl")
                args.rank = dist.get_rank()
                args.distributed = True

            def save(args, state):
                if args.rank != 0:
                    return
                torch.save(state, "model.pt")

            args = parse()
            start(args)
            save(args, state)
            """,
            reason="the other ranks have returned above it; the rank is held by an attribute",
        ),
        Keep(
            """\
            import os
            import torch
            import torch.distributed as dist

            ddp = int(os.environ.get("RANK", -1)) != -1
            if ddp:
                dist.init_process_group("nccl")
                ddp_rank = int(os.environ["RANK"])
                master_process = ddp_rank == 0
            else:
                master_process = True
            if master_process:
                torch.save(state, "model.pt")
            """,
            reason="the test is held by a variable, which is true elsewhere only in a job of one",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            def on_rank_0(function):
                def wrapper(*args):
                    if dist.get_rank() == 0:
                        return function(*args)
                return wrapper

            @on_rank_0
            def save(state):
                torch.save(state, "model.pt")

            save(state)
            """,
            reason="a decorator tests the rank",
        ),
        Keep(
            """\
            import os
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP
            from util import is_main_process, save_on_master

            model = DDP(net)
            loss.backward()
            if is_main_process():
                torch.save(model.state_dict(), "model.pt")
            save_on_master(model.state_dict(), "last.pt")
            """,
            reason=(
                "a size of one, or rank 0: the helpers ask whether the job started, and answer with True "
                "where it did not"
            ),
            suggested=True,
            files=(
                (
                    "util.py",
                    """\
import torch
import torch.distributed as dist

def is_dist_avail_and_initialized():
    if not dist.is_available():
        return False
    if not dist.is_initialized():
        return False
    return True

def get_world_size():
    if not is_dist_avail_and_initialized():
        return 1
    return dist.get_world_size()

def get_rank():
    if not is_dist_avail_and_initialized():
        return 0
    return dist.get_rank()

def is_main_process():
    if get_world_size() > 1:
        return get_rank() == 0
    return True

def save_on_master(*args, **kwargs):
    if is_main_process():
        torch.save(*args, **kwargs)
""",
                ),
            ),
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(model, path, is_master):
                if is_master:
                    torch.save(model.state_dict(), path)

            def train(rank):
                model = DDP(net)
                loss.backward()
                save(model, "model.pt", rank == 0)
                save(model, "last.pt", is_master=dist.get_rank() == 0)

            train(dist.get_rank())
            """,
            reason="whether to write is decided by the caller and handed down",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(model, rank):
                if rank not in [-1, 0]:
                    return
                torch.save(model.state_dict(), "model.pt")

            model = DDP(net)
            loss.backward()
            save(model, dist.get_rank())
            """,
            reason="ranks that are neither 0 nor the -1 of a job of one left above",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            loss.backward()
            dist.get_rank() == 0 and torch.save(model.state_dict(), "model.pt")
            dist.get_rank() > 0 or torch.save(model.state_dict(), "last.pt")
            """,
            reason="the test stands in the same expression",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            from pytorch_lightning.utilities import rank_zero_only
            from torch.nn.parallel import DistributedDataParallel as DDP

            @rank_zero_only
            def save(model):
                torch.save(model.state_dict(), "model.pt")

            model = DDP(net)
            loss.backward()
            save(model)
            """,
            reason="a decorator of a library lets rank 0 in alone",
            suggested=True,
        ),
        Keep(
            """\
            import argparse
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def init_distributed_mode(args):
                if args.world_size < 2:
                    args.distributed = False
                    return
                args.distributed = True
                dist.init_process_group("nccl", init_method=args.dist_url)
                args.rank = dist.get_rank()

            parser = argparse.ArgumentParser()
            parser.add_argument("--world-size", type=int, default=1)
            parser.add_argument("--dist-url", default="env://")
            args = parser.parse_args()
            init_distributed_mode(args)
            model = DDP(net)
            loss.backward()
            if not args.distributed or args.rank == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
            reason="args.distributed is set where the job starts: without it there is one process",
            suggested=True,
        ),
        Keep(
            """\
            import argparse
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            parser = argparse.ArgumentParser()
            parser.add_argument("--rank", type=int, default=-1)
            parser.add_argument("--world-size", type=int, default=-1)
            args = parser.parse_args()
            distributed = args.world_size > 1 or dist.is_initialized()
            dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
            model = DDP(net)
            loss.backward()
            if distributed:
                is_master = args.rank == 0
            else:
                is_master = True
            if is_master:
                torch.save(model.state_dict(), "model.pt")
            if args.world_size <= 1 or args.rank == 0:
                torch.save(model.state_dict(), "last.pt")
            """,
            reason=(
                "multiprocessing_distributed or a single process: the ImageNet example's way to say rank 0"
            ),
            suggested=True,
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP

            def is_dist_avail_and_initialized():
                if not dist.is_available():
                    return False
                return dist.is_initialized()

            def is_main_process():
                if not is_dist_avail_and_initialized():
                    return True
                return dist.get_rank() == 0

            model = DDP(net)
            loss.backward()
            if is_main_process():
                torch.save(model.state_dict(), "model.pt")
            """,
            reason="the helper says True where no job was started, and rank 0 else",
            suggested=True,
        ),
        Keep(
            """\
            import os
            import config
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp
            from config import RANK
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(model, rank=0):
                if int(rank) == 0:
                    torch.save(model.state_dict(), "model.pt")

            def worker(gpu, nodes):
                rank = config.NODE * 8 + gpu
                dist.init_process_group("nccl", rank=rank, world_size=8 * nodes)
                model = DDP(net)
                loss.backward()
                chosen = dist.get_rank() if dist.is_initialized() else 0
                given = chosen or 0
                save(model, chosen)
                save(model, rank=given)
                if not +rank:
                    torch.save(model.state_dict(), "a.pt")
                if RANK == 0:
                    torch.save(model.state_dict(), "b.pt")
                if config.RANK == 0:
                    torch.save(model.state_dict(), "c.pt")

            if __name__ == "__main__":
                mp.spawn(worker, args=(2,), nprocs=8)
            """,
            reason="a rank is a rank through arithmetic, defaults, choices and the modules of the project",
            suggested=True,
            files=(
                (
                    "config.py",
                    """\
import os

NODE = int(os.environ["SLURM_NODEID"])
RANK = int(os.environ["RANK"])
""",
                ),
            ),
        ),
    ),
)
