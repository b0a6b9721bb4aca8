"""HVD101: init_process_group becomes hvd.init(), above whatever needs a rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.data.training import training_paths
from hvdkit.migrate.facts.launch.launch import INIT_ARGUMENTS
from hvdkit.migrate.facts.launch.launch_needs import init_order
from hvdkit.migrate.facts.launch.launch_order import Place
from hvdkit.migrate.facts.launch.launch_reach import TRUE_CALLS
from hvdkit.migrate.facts.launch.library_talk import heard_by
from hvdkit.migrate.facts.launch.starts import runs_in, starting_sites
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.starting import device_lines

# Arguments that asked for something that Horovod has elsewhere, or not at all.
SAID = {
    "timeout": "its timeout is HOROVOD_GLOO_TIMEOUT_SECONDS (start) and HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
    "store": "its store is not used",
    "pg_options": "its pg_options have no counterpart",
}

SKIPPED = (
    "a rank is read before this function is called: Horovod starts there, and this would not be done any more"
)
PASSED_BY = (
    "Horovod starts above this test, where a rank is read or ranks were started: a group is there by now, and what "
    "stands where none is would not be done any more"
)
TAKE_AWAY = "take the test away, and leave what it was to do in each process once"
WHERE_TO_CALL = "call this function before anything reads a rank, and run hvdkit migrate again"


def check(facts: Facts) -> Iterator[Finding]:
    if not facts.launch.inits:
        return
    order = init_order(facts)
    placed: set[Place] = set()
    for site in facts.launch.inits:
        place = order.own_place(site.names, site.node)
        inserted = None if place in placed else place
        if place is not None:
            placed.add(place)
        gone = place is not None or order.covers(site.names, site.node)
        skipped = order.left_out(site.names, site.node)
        if skipped is not None:
            yield facts.refused("HVD101", site.names, skipped, SKIPPED, WHERE_TO_CALL)
        asked = order.passed_by(site.names, site.node)
        if asked is not None:
            yield facts.manual("HVD101", site.names, asked, PASSED_BY, TAKE_AWAY)
        message = "init_process_group becomes hvd.init(); the launcher gives rank, size and addresses"
        stays = facts.options.allows("HVD115") and heard_by(facts, site)
        make = _above if stays else _edits
        finding = facts.safe("HVD101", site.names, site.node, message, make, facts, site, inserted, gone)
        yield finding.knowing(_said(site.node))
    for place in order.places:
        if place not in placed:
            message = "ranks are read here before the process group was made: Horovod starts first"
            yield facts.safe("HVD101", place.names, place.statement, message, _insert, facts, place)


def _said(call: ast.Call) -> str:
    given = {*INIT_ARGUMENTS[: len(call.args)], *(item.arg for item in call.keywords)}
    return "; ".join(text for name, text in SAID.items() if name in given)


def _edits(facts: Facts, site: Site, place: Place | None, gone: bool) -> list[Edit]:
    names, statement = site.names, site.names.statement(site.node)
    inserted = [_insert(facts, place)] if place is not None else []
    if gone and isinstance(statement, ast.Expr) and statement.value is site.node:
        return [*inserted, edits.delete(names, _emptied(facts, names, statement))]
    return [*inserted, edits.replace(names.source, site.node, f"{facts.hvd(names)}.init()")]


def _above(facts: Facts, site: Site, place: Place | None, gone: bool) -> list[Edit]:
    """hvd.init() above a process group that libraries need (HVD115)."""
    if place is not None:
        return [_insert(facts, place)]
    statement = site.names.statement(site.node)
    start = f"{facts.hvd(site.names)}.init()"
    return [] if gone else [edits.before(site.names.source, statement, [start])]


def _emptied(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt:
    """The statement to delete: with its last statement an `if` goes, too, when its test does nothing."""
    parent = names.parents[statement]
    if not isinstance(parent, ast.If) or parent.body != [statement] or parent.orelse:
        return statement
    calls = [part for part in ast.walk(parent.test) if isinstance(part, ast.Call)]
    asks = all(any(name in TRUE_CALLS for name in facts.flow.qualified(names, call.func)) for call in calls)
    return _emptied(facts, names, parent) if asks and not names.source.is_elif(parent) else statement


def _insert(facts: Facts, place: Place) -> Edit:
    verb = edits.after if place.after else edits.before
    lines = [f"{facts.hvd(place.names)}.init()"]
    if _without_device(facts, place):
        lines += device_lines(facts, place.names)
    return verb(place.names.source, place.statement, lines)


def _without_device(facts: Facts, place: Place) -> bool:
    """Whether a place is at the start of a script that trains, and that never comes to what sets its device."""
    if place.names.function(place.statement) is not None:
        return False
    pins = facts.calls("torch.cuda.set_device")
    return any(
        program.entry is place.names
        and training_paths(facts, program)
        and not starting_sites(facts, program)
        and not any(runs_in(facts, program, pin.names, pin.node) for pin in pins)
        for program in facts.programs
    )


RULE = Rule(
    id="HVD101",
    title="init_process_group becomes hvd.init()",
    what=(
        "Replaces torch.distributed.init_process_group(...) by hvd.init(), and puts hvd.init() above the first "
        "line that needs a rank, in whatever function or file that is."
    ),
    why=(
        "Horovod's launcher tells every process its rank and how to find the others. Backend, init_method, rank, "
        "world_size and store have no meaning there: Horovod chose its operations when it was built. And Horovod "
        "knows no rank before its init, where the environment of torchrun always did."
    ),
    safety="Safe: hvd.init() may be called more than once, and nothing else of the script reads the process group.",
    check=check,
    changes=(
        Change(
            """\
            import os
            import torch.distributed as dist

            class Trainer:
                def __init__(self):
                    self.rank = dist.get_rank() if dist.is_initialized() else int(os.environ["RANK"])

            def start():
                dist.init_process_group("nccl")

            def main():
                rank = int(os.environ["RANK"])
                start()
                globals()[args.trainer]().train(rank)

            if __name__ == "__main__":
                main()
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist

            class Trainer:
                def __init__(self):
                    self.rank = dist.get_rank() if dist.is_initialized() else int(os.environ["RANK"])

            def start():
                pass

            def main():
                hvd.init()
                rank = int(os.environ["RANK"])
                start()
                globals()[args.trainer]().train(rank)

            if __name__ == "__main__":
                main()
            """,
            note="main() is a command that the package installs, so that the main guard is not always run.",
            files=(("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    fit = train:main\n"),),
        ),
        Change(
            """\
            import torch.distributed as dist

            dist.init_process_group("nccl", init_method="env://")
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            """,
        ),
        Change(
            """\
            import os
            import torch
            from torch.distributed import init_process_group

            def main():
                local_rank = int(os.environ["LOCAL_RANK"])
                torch.cuda.set_device(local_rank)
                init_process_group(backend="nccl")
                train(local_rank)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            def main():
                hvd.init()
                local_rank = int(os.environ["LOCAL_RANK"])
                torch.cuda.set_device(local_rank)
                train(local_rank)
            """,
            note="Horovod knows no rank before init, so it moves above the first line that reads one.",
        ),
        Change(
            """\
            import os
            import torch.distributed

            def setup(backend, timeout):
                group = torch.distributed.init_process_group(backend, timeout=timeout)
                return group

            def main():
                rank = int(os.environ["RANK"])
                print("starting", rank)
                setup("gloo", None)

            if __name__ == "__main__":
                main()
            """,
            """\
            import os
            import horovod.torch as hvd

            def setup(backend, timeout):
                group = hvd.init()
                return group

            def main():
                hvd.init()
                rank = int(os.environ["RANK"])
                print("starting", rank)
                setup("gloo", None)

            if __name__ == "__main__":
                main()
            """,
            note="A rank that is read before the helper runs gets its own init; a second one does nothing.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            def setup():
                if dist.is_initialized():
                    return
                os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
                dist.init_process_group("nccl")

            setup()
            print(int(os.environ["RANK"]))
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist

            def setup():
                if dist.is_initialized():
                    return
                hvd.init()
                os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]

            setup()
            print(int(os.environ["RANK"]))
            """,
            note="The helper returns early where something has started: init above its call would skip the rest.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            ddp = int(os.environ.get("RANK", -1)) != -1
            if ddp:
                dist.init_process_group("gloo")
                rank = int(os.environ["RANK"])
            """,
            """\
            import os
            import horovod.torch as hvd

            hvd.init()
            ddp = int(os.environ.get("RANK", -1)) != -1
            if ddp:
                rank = int(os.environ["RANK"])
            """,
            note="The test is a rank read, too: it becomes hvd.size() > 1.",
        ),
        Change(
            """\
            import argparse
            import torch.distributed as dist
            from tools import start

            def main():
                parser = argparse.ArgumentParser()
                parser.add_argument("--local_rank", type=int, default=0)
                args = parser.parse_args()
                start()
                print(args.local_rank)

            if __name__ == "__main__":
                main()
            """,
            """\
            import argparse
            import horovod.torch as hvd
            import torch.distributed as dist
            from tools import start

            def main():
                parser = argparse.ArgumentParser()
                parser.add_argument("--local_rank", type=int, default=0)
                args = parser.parse_args()
                hvd.init()
                start()
                print(args.local_rank)

            if __name__ == "__main__":
                main()
            """,
            files=(
                (
                    "tools.py",
                    "import torch.distributed as dist\n\ndef start():\n    dist.init_process_group('gloo')\n",
                ),
            ),
        ),
        Change(
            """\
            import argparse
            import os
            import torch.distributed as dist

            def parse():
                parser = argparse.ArgumentParser()
                parser.add_argument("--local_rank", type=int, default=0)
                print("rank", os.environ["RANK"])
                return parser.parse_args()

            def main():
                args = parse()
                dist.init_process_group("gloo")
                print(args.local_rank)

            main()
            """,
            """\
            import argparse
            import os
            import horovod.torch as hvd

            def parse():
                parser = argparse.ArgumentParser()
                parser.add_argument("--local_rank", type=int, default=0)
                print("rank", os.environ["RANK"])
                return parser.parse_args()

            def main():
                hvd.init()
                args = parse()
                print(args.local_rank)

            main()
            """,
            note="parse() reads a rank, so init stands above its call; the one further down would do nothing.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, count):
                if count > 1:
                    dist.init_process_group("gloo", rank=gpu, world_size=count)
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main():
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.multiprocessing as mp

            def worker(gpu, count):
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main():
                hvd.init()
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main()
            """,
            note="The caller needs ranks first; an `if` that only held the old init goes with it.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, count):
                try:
                    dist.init_process_group("gloo", rank=gpu, world_size=count)
                except RuntimeError:
                    raise OSError("cannot start")
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main():
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main()
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.multiprocessing as mp

            def worker(gpu, count):
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main():
                hvd.init()
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main()
            """,
            note="... and so does a `try:`.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(gpu, count):
                dist.init_process_group("gloo", rank=gpu, world_size=count)
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main(args):
                torch.save(vars(args), "settings.pt")
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main(parse())
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.multiprocessing as mp

            def worker(gpu, count):
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

            def main(args):
                hvd.init()
                torch.save(vars(args), "settings.pt")
                count = torch.cuda.device_count()
                mp.spawn(worker, args=(count,), nprocs=count)

            main(parse())
            """,
            note="What one process wrote before it started the ranks, rank 0 writes (HVD601): it is asked for.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            def main(config):
                if config.several:
                    print("several processes")
                    dist.init_process_group("gloo")
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
            """,
            """\
            import horovod.torch as hvd
            import torch

            def main(config):
                hvd.init()
                if config.several:
                    print("several processes")
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
            """,
            note="The optimizer will be Horovod's in any case, so init may not depend on the test.",
        ),
        Change(
            """\
            import os
            import torch
            import torch.distributed as dist

            RANK = int(os.getenv("RANK", -1))

            def main():
                if RANK != -1:
                    dist.init_process_group("gloo")
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch

            hvd.init()
            RANK = int(os.getenv("RANK", -1))

            def main():
                optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
            """,
            note="A rank that is read when the file is imported: init stands there, and once is enough.",
        ),
        Change(
            """\
            import os
            import torch
            from tools import start

            def main():
                start()
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                print(os.environ["RANK"])

            main()
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch
            from tools import start

            def main():
                hvd.init()
                start()
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                print(os.environ["RANK"])

            main()
            """,
            note="The helper returns early where it is told to: what follows its call cannot count on it.",
            files=(
                (
                    "tools.py",
                    "import torch.distributed as dist\n\ndef start(wanted=True):\n    if not wanted:\n"
                    "        return\n    dist.init_process_group('gloo')\n",
                ),
            ),
        ),
        Change(
            """\
            import os

            try:
                os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
            except KeyError:
                pass

            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            print("ready")
            """,
            """\
            import os
            import horovod.torch as hvd

            hvd.init()
            try:
                os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
            except KeyError:
                pass

            import torch

            print("ready")
            """,
            note="A rank that is read between the imports: Horovod is imported above it, too.",
        ),
        Change(
            """\
            import torch
            from tools import start

            class Runner:
                def __init__(self, model):
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def run(self, model, x):
                    model(x).sum().backward()
                    self.optimizer.step()

            table = {"start": start, "train": Runner}

            def main():
                runner = table["train"](torch.nn.Linear(2, 1))

            if __name__ == "__main__":
                main()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from tools import start

            class Runner:
                def __init__(self, model):
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def run(self, model, x):
                    model(x).sum().backward()
                    self.optimizer.step()

            table = {"start": start, "train": Runner}

            def main():
                runner = table["train"](torch.nn.Linear(2, 1))

            if __name__ == "__main__":
                hvd.init()
                main()
            """,
            files=(
                (
                    "tools.py",
                    "import torch.distributed as dist\n\ndef start():\n    dist.init_process_group('gloo')\n",
                ),
            ),
            note="A script beside a distributed one: its optimizer asks for the ranks, too.",
        ),
        Change(
            """\
            import tools
            import torch

            def main():
                model = tools.wrap(torch.nn.Linear(2, 1), False)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(x).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                main()
            """,
            """\
            import tools
            import horovod.torch as hvd
            import torch

            def main():
                model = tools.wrap(torch.nn.Linear(2, 1), False)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(x).sum().backward()
                optimizer.step()

            if __name__ == "__main__":
                hvd.init()
                if torch.cuda.is_available():
                    torch.cuda.set_device(hvd.local_rank())
                main()
            """,
            files=(
                (
                    "tools.py",
                    "import torch\nimport torch.distributed as dist\n"
                    "from torch.nn.parallel import DistributedDataParallel as DDP\n\n\ndef start():\n"
                    "    dist.init_process_group('nccl')\n    torch.cuda.set_device(dist.get_rank())\n\n\n"
                    "def wrap(net, distributed):\n    return DDP(net) if distributed else net\n",
                ),
            ),
            note="A script that trains without the job of another: it never comes to what sets the device.",
        ),
        Change(
            """\
            import torch.distributed as dist
            from library import registry
            import solvers

            def main(options):
                if options["launcher"] != "none":
                    dist.init_process_group("nccl")
                registry.get(options["kind"])(options).train()

            if __name__ == "__main__":
                main(parse())
            """,
            """\
            import horovod.torch as hvd
            from library import registry
            import solvers

            def main(options):
                registry.get(options["kind"])(options).train()

            if __name__ == "__main__":
                hvd.init()
                main(parse())
            """,
            files=(
                (
                    "solvers.py",
                    "import torch\nfrom library import registry\n\n\n@registry.register()\nclass Solver:\n"
                    "    def train(self):\n        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)\n",
                ),
            ),
            note="Nothing is seen to call the solver, whose optimizer will be Horovod's in a lone process, too.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            def train():
                dist.init_process_group("nccl")
                run(int(os.environ["RANK"]))

            def infer():
                run(int(os.environ.get("RANK", 0)))

            def main(args):
                if args.train:
                    train()
                elif args.test:
                    infer()

            main(parse())
            """,
            """\
            import os
            import horovod.torch as hvd

            def train():
                run(int(os.environ["RANK"]))

            def infer():
                run(int(os.environ.get("RANK", 0)))

            def main(args):
                hvd.init()
                if args.train:
                    train()
                elif args.test:
                    infer()

            main(parse())
            """,
            note="Both branches read a rank: Horovod starts above the test.",
        ),
        Change(
            """\
            import torch.distributed as dist
            from multiprocessing import Process

            def run(rank):
                dist.init_process_group("gloo", rank=rank, world_size=2)

            if __name__ == "__main__":
                for rank in range(2):
                    Process(target=run, args=(rank,)).start()
            """,
            """\
            import horovod.torch as hvd
            from multiprocessing import Process

            def run(rank):
                pass

            if __name__ == "__main__":
                hvd.init()
                for rank in range(2):
                    Process(target=run, args=(rank,)).start()
            """,
            note="The loop becomes one call that is given hvd.local_rank() (HVD113).",
        ),
        Change(
            """\
            import os
            import torch
            import torch.distributed as dist

            def setup():
                rank = int(os.environ["RANK"])
                if not dist.is_initialized():
                    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
                    dist.init_process_group("nccl")
                return rank

            setup()
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            def setup():
                hvd.init()
                rank = int(os.environ["RANK"])
                # hvdkit: TODO[HVD101] take the test away, and leave what it was to do in each process once
                if not dist.is_initialized():
                    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
                return rank

            setup()
            """,
            note="Horovod starts above the test, which would then skip the device: whether it may go is not proven.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            def quiet(rank):
                print = dict if rank else repr

            def setup(rank):
                if dist.is_initialized():
                    print("there already")
                else:
                    dist.init_process_group("nccl")
                    quiet(rank)

            setup(int(os.environ["RANK"]))
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist

            def quiet(rank):
                print = dict if rank else repr

            def setup(rank):
                # hvdkit: TODO[HVD101] take the test away, and leave what it was to do in each process once
                if dist.is_initialized():
                    print("there already")
                else:
                    quiet(rank)

            hvd.init()
            setup(int(os.environ["RANK"]))
            """,
            note="The same the other way round: a caller reads a rank, and what stands below else is skipped.",
        ),
        Change(
            """\
            import os
            import torch.distributed as dist

            print(int(os.environ["RANK"]))
            if dist.is_available() and not dist.is_initialized():
                os.environ["MASTER_PORT"] = "29500"
                dist.init_process_group("nccl")
                print("started")
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch.distributed as dist

            hvd.init()
            print(int(os.environ["RANK"]))
            if dist.is_available() and not dist.is_initialized():
                os.environ["MASTER_PORT"] = "29500"
                print("started")
            """,
            note="Nothing that stays done stands below the test.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch
            import torch.distributed as dist

            def setup():
                if dist.is_initialized():
                    return
                torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
                dist.init_process_group("nccl")

            print(int(os.environ["RANK"]))
            setup()
            """,
            reason="Horovod starts above the first line, and setup() would leave before it sets the device",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from tools import start

            def main():
                start()

            main()
            """,
            reason="the helper initialises before it reads a rank: its caller is left alone",
            files=(
                (
                    "tools.py",
                    "import os\nimport torch.distributed as dist\n\ndef start():\n"
                    "    if 'RANK' in os.environ:\n        rank = int(os.environ['RANK'])\n    else:\n        return\n"
                    "    dist.init_process_group('gloo')\n",
                ),
            ),
        ),
        Keep(
            """\
            def init_process_group(backend):
                return backend

            init_process_group("nccl")
            """,
            reason="the script's own function of that name is not torch's",
        ),
        Keep(
            """\
            import os
            import horovod.torch as hvd

            hvd.init()
            folder = os.path.join("logs", os.environ.get("SLURM_PROCID", "0"))
            """,
            reason="a Horovod program starts as it does",
        ),
    ),
)
