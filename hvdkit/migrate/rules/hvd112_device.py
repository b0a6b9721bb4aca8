"""HVD112: the device of a process is that of its local rank, never of its rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.facts.launch.device_numbers import (
    BY_NUMBER,
    FIRST_DEVICE,
    SET_DEVICE,
    device_numbers,
    first_devices,
    goes_elsewhere,
    in_text,
    ranks_for_devices,
    spread,
    told_numbers,
    visible_devices,
)
from hvdkit.migrate.facts.launch.given_devices import asks_for_it, chosen_alone, only_given
from hvdkit.migrate.facts.launch.starts import on_import, runs_in
from hvdkit.migrate.facts.values.value import Value
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    ranks = ranks_for_devices(facts)
    for names, index in dict.fromkeys(device_numbers(facts)):
        text = f"{facts.hvd(names)}.local_rank()"
        if index in ranks:
            message = f"the rank counts over all hosts, devices count on each: {text}"
        elif _is_first(index) and only_single(facts, names):
            message = f"every process of a host would work on its first device: {text}"
        else:
            continue
        yield facts.safe("HVD112", names, index, message, edits.replace, names.source, index, text)
    for value in sorted(first_devices(facts), key=lambda value: value.node.lineno):  # type: ignore[attr-defined]
        message = "every process of a host would work on its first device"
        yield facts.safe("HVD112", value.names, value.node, message, _own_device, facts, value)
    for site in facts.calls(SET_DEVICE):
        if site.node.args and "ddp" in facts.kinds(site.names) and only_given(facts, site):
            message = (
                "the device is an option of the command line, which horovodrun gives alike to every process"
            )
            advice = (
                f"call torch.cuda.set_device({facts.hvd(site.names)}.local_rank()), whatever the option says"
            )
            if chosen_alone(facts, site):
                yield facts.suggested("HVD112", site.names, site.node, message, _local, facts, site)
            else:
                yield facts.manual("HVD112", site.names, site.node, message, advice)
    yield from _alike(facts)


def _alike(facts: Facts) -> Iterator[Finding]:
    """Devices that a script of one process is told, and that all processes of a job would be told alike."""
    for names, node in visible_devices(facts):
        message = "every process of a host would see these devices alone"
        advice = (
            f"leave it out, and let torch.cuda.set_device({facts.hvd(names)}.local_rank()) choose: which devices "
            "a job may see is said where it is started"
        )
        statement = names.statement(node)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            yield facts.suggested("HVD112", names, node, message, edits.delete, names, statement)
        else:
            yield facts.manual("HVD112", names, node, message, advice)
    for names in (names for names in facts.files if only_single(facts, names)):
        for device in spread(names)[:1]:
            message = (
                "one process works on several devices here, and all processes of a host would on the same"
            )
            advice = "keep to one device in each process, or give each process devices of its own by its local rank"
            yield facts.manual("HVD112", names, device, message, advice)
    for names, node in dict.fromkeys(told_numbers(facts)):
        hvd = facts.hvd(names)
        message = "every process of a host would take this device, which they are all given alike"
        advice = f"take {hvd}.local_rank() for it; {hvd}.init() and torch.cuda.set_device() come before"
        others = any(p.kind == "none" and runs_in(facts, p, names, node) for p in facts.programs)
        if others or on_import(facts, names, node) or goes_elsewhere(facts, names):
            yield facts.manual("HVD112", names, node, message, advice)
        else:
            local = f"{hvd}.local_rank()"
            yield facts.suggested("HVD112", names, node, message, _numbered, names, node, local)


def _numbered(names: Names, node: ast.expr, number: str) -> Edit:
    """A number in the place of another one, or of a whole text `"cuda:{}".format(n)`."""
    text = next((found for _, found in in_text(names, node)), None)
    return edits.replace(names.source, text if text is not None else node, number)


def _own_device(facts: Facts, value: Value) -> Edit:
    """cuda, which is the device that a process took; with its number where that is asked for."""
    source = value.names.source
    for site in facts.calls(*sorted(BY_NUMBER)):
        chosen = {o.node for part in site.node.args[:1] for o in facts.flow.values(site.names, part)}
        if value.node in {node for made in chosen for node in ast.walk(made)}:
            text = f'f"cuda:{{{facts.hvd(value.names)}.local_rank()}}"'
            return edits.replace(source, value.node, text)
    return edits.replace(source, value.node, source.segment(value.node).replace(FIRST_DEVICE, "cuda"))


def _local(facts: Facts, site: Site) -> list[Edit]:
    """The device of the local rank, whether the option is given or not."""
    names, source = site.names, site.names.source
    option = next(part for part in ast.walk(site.node.args[0]) if isinstance(part, ast.Attribute))
    asked = asks_for_it(names, names.statement(site.node), option)
    made = [edits.replace(source, site.node.args[0], f"{facts.hvd(names)}.local_rank()")]
    if asked is not None and isinstance(site.node.func, ast.Attribute):
        made.append(edits.replace(source, asked.test, f"{ast.unparse(site.node.func.value)}.is_available()"))
    return made


def _is_first(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and not isinstance(index.value, bool)


RULE = Rule(
    id="HVD112",
    title="devices by local rank",
    what=(
        "Replaces the global rank by hvd.local_rank() where it is used as a device number, and in a script that was "
        "single-process device 0, too."
    ),
    why=(
        "On the second host rank 8 has no device 8. One-host scripts use the two alike, and break when they grow. And "
        "every process of a host would work on the device that a single one named."
    ),
    safety=(
        "Safe: on one host rank and local rank are the same, for one process 0; on several hosts only the local rank "
        "is a device. Suggested where an option says which device a process takes, or sees: all processes of a "
        "host are told the same one."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            def device_of(number):
                return torch.device("cuda:%d" % number) if torch.cuda.is_available() else torch.device("cpu")

            def main(args):
                model = torch.nn.Linear(2, 1).to(device_of(args.gpu))
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def device_of(number):
                return torch.device("cuda:%d" % hvd.local_rank()) if torch.cuda.is_available() else torch.device("cpu")

            def main(args):
                model = torch.nn.Linear(2, 1).to(device_of(args.gpu))
                model(x).sum().backward()
                optimizer.step()
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            rank = dist.get_rank()
            device = torch.device(type="cuda", index=rank)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            rank = dist.get_rank()
            device = torch.device(type="cuda", index=hvd.local_rank())
            """,
        ),
        Change(
            """\
            import torch

            device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
            model = torch.nn.Linear(1, 1).to(device)
            teacher = torch.nn.Linear(1, 1).cuda(0)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = torch.nn.Linear(1, 1).to(device)
            teacher = torch.nn.Linear(1, 1).cuda(hvd.local_rank())
            model(x).sum().backward()
            optimizer.step()
            """,
            note="cuda without a number is the device that torch.cuda.set_device(hvd.local_rank()) chose (HVD110).",
        ),
        Change(
            """\
            import torch

            def main():
                device = torch.device("cuda:0")
                torch.cuda.set_device(device)
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def main():
                device = torch.device(f"cuda:{hvd.local_rank()}")
                torch.cuda.set_device(device)
                model(x).sum().backward()
                optimizer.step()
            """,
            note="set_device takes no device without a number.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            rank = dist.get_rank()
            torch.cuda.set_device(rank)
            device = torch.device("cuda", rank)
            other = torch.device("cuda:" + str(rank))
            model = torch.nn.Linear(1, 1).to(rank)
            print("rank", rank)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            rank = dist.get_rank()
            torch.cuda.set_device(hvd.local_rank())
            device = torch.device("cuda", hvd.local_rank())
            other = torch.device("cuda:" + str(hvd.local_rank()))
            model = torch.nn.Linear(1, 1).to(hvd.local_rank())
            print("rank", rank)
            """,
        ),
        Change(
            """\
            import os
            import torch
            import torch.distributed as dist

            class Run:
                def __init__(self):
                    self.rank = int(os.environ["RANK"])
                    dist.init_process_group("nccl", rank=self.rank)
                    self.device = torch.device(f"cuda:{self.rank}")
                    self.model = torch.nn.Linear(1, 1).cuda(self.rank)
            """,
            """\
            import os
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            class Run:
                def __init__(self):
                    self.rank = int(os.environ["RANK"])
                    dist.init_process_group("nccl", rank=self.rank)
                    self.device = torch.device(f"cuda:{hvd.local_rank()}")
                    self.model = torch.nn.Linear(1, 1).cuda(hvd.local_rank())
            """,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist

            rank = dist.get_rank()
            device = torch.device("cuda:{}".format(rank))
            other = torch.device("cuda:" + str(rank))
            third = torch.device(f"cuda:{rank}")
            model = torch.nn.Linear(2, 1).to(f"cuda:{rank}").cuda(rank)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            rank = dist.get_rank()
            device = torch.device("cuda:{}".format(hvd.local_rank()))
            other = torch.device("cuda:" + str(hvd.local_rank()))
            third = torch.device(f"cuda:{hvd.local_rank()}")
            model = torch.nn.Linear(2, 1).to(f"cuda:{hvd.local_rank()}").cuda(hvd.local_rank())
            """,
            note="The number in a text, in each way to write it.",
        ),
        Change(
            """\
            import argparse
            import os
            import torch

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=0)
            args = parser.parse_args()
            os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
            torch.cuda.set_device(args.gpu)
            device = torch.device("cuda:{}".format(args.gpu) if torch.cuda.is_available() else "cpu")
            teacher = torch.nn.Linear(2, 1).to(f"cuda:{args.gpu}")
            torch.nn.Linear(2, 1).to(device)(x).sum().backward()
            optimizer.step()
            """,
            """\
            import argparse
            import horovod.torch as hvd
            import torch

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=0)
            args = parser.parse_args()
            torch.cuda.set_device(hvd.local_rank())
            device = torch.device("cuda:{}".format(hvd.local_rank()) if torch.cuda.is_available() else "cpu")
            teacher = torch.nn.Linear(2, 1).to(f"cuda:{hvd.local_rank()}")
            torch.nn.Linear(2, 1).to(device)(x).sum().backward()
            optimizer.step()
            """,
            suggested=True,
            note="Which devices a job may see is said where it is started.",
        ),
        Change(
            """\
            import torch

            def main(args):
                device = f"cuda:{args.device}" if torch.cuda.is_available() else "cpu"
                device = torch.device(device)
                model = torch.nn.Linear(2, 1).to(device)
                model(x.to(device)).sum().backward()
                optimizer.step()

            main(parse())
            """,
            """\
            import horovod.torch as hvd
            import torch

            def main(args):
                device = f"cuda:{hvd.local_rank()}" if torch.cuda.is_available() else "cpu"
                device = torch.device(device)
                model = torch.nn.Linear(2, 1).to(device)
                model(x.to(device)).sum().backward()
                optimizer.step()

            main(parse())
            """,
            suggested=True,
            note="A variable holds the text first.",
        ),
        Change(
            """\
            import argparse
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=None)
            parser.add_argument("--rank", type=int, default=0)
            parser.add_argument("--world-size", type=int, default=1)
            args = parser.parse_args()
            args.distributed = args.world_size > 1
            if args.distributed:
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
                if args.gpu:
                    torch.cuda.set_device(int(args.gpu))
            """,
            """\
            import argparse
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=None)
            parser.add_argument("--rank", type=int, default=0)
            parser.add_argument("--world-size", type=int, default=1)
            args = parser.parse_args()
            args.distributed = args.world_size > 1
            if args.distributed:
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
                if torch.cuda.is_available():
                    torch.cuda.set_device(hvd.local_rank())
            """,
            suggested=True,
            note="A launcher of the script's own gave each process its --gpu; horovodrun gives all the same.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            front = torch.nn.Linear(2, 2).to("cuda:0")
            back = torch.nn.Linear(2, 1).to("cuda:1")
            back(front(x.to("cuda:0")).to("cuda:1")).sum().backward()
            optimizer.step()
            """,
            reason="a model over two devices: which ones each process takes is to be said",
            reported=True,
        ),
        Keep(
            """\
            import argparse
            import torch

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpus", type=int, nargs="+")
            args = parser.parse_args()
            torch.cuda.set_device(args.gpus[0])
            torch.nn.Linear(2, 1).to(args.gpus[0])(x).sum().backward()
            optimizer.step()
            """,
            reason="the model is moved to what may be the same device: both, or none",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import argparse
            import os
            import torch

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=0)
            args = parser.parse_args()
            os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
            device = torch.device("cuda:{}".format(args.gpu) if torch.cuda.is_available() else "cpu")
            torch.nn.Linear(2, 1).to(device)(x).sum().backward()
            optimizer.step()
            """,
            reason="a lone process goes on taking the device that it is given: of several with --suggested",
            reported=True,
        ),
        Keep(
            """\
            import os
            import torch

            if cpu:
                os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
            device = torch.device("cuda")
            torch.cuda.set_device(device)
            for i in range(torch.cuda.device_count()):
                print(torch.zeros(1).to(f"cuda:{i}"))
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="no device, one that is found already, and a question about each of them",
        ),
        Keep(
            """\
            import argparse
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=None)
            parser.add_argument("--rank", type=int, default=0)
            parser.add_argument("--world-size", type=int, default=1)
            args = parser.parse_args()
            args.distributed = args.world_size > 1
            if args.distributed:
                if args.gpu:
                    torch.cuda.set_device(int(args.gpu))
                    model.cuda(args.gpu)
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
            """,
            reason="the model is moved to the same number: both places, or none",
            suggested=True,
            reported=True,
        ),
        Keep(
            """\
            import argparse
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=None)
            parser.add_argument("--rank", type=int, default=0)
            parser.add_argument("--world-size", type=int, default=1)
            args = parser.parse_args()
            args.distributed = args.world_size > 1
            if args.distributed:
                if args.gpu:
                    torch.cuda.set_device(int(args.gpu))
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
            """,
            reason="only with --suggested: a launcher of its own gave each process its --gpu; under horovodrun all would get the same",
            reported=True,
        ),
        Keep(
            """\
            import argparse
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--gpu", type=int, default=None)
            parser.add_argument("--rank", type=int, default=0)
            parser.add_argument("--world-size", type=int, default=1)
            args = parser.parse_args()
            args.distributed = args.world_size > 1
            if args.distributed:
                dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
            else:
                torch.cuda.set_device(args.gpu)
            """,
            reason="only a lone process takes the device that it is given",
        ),
        Keep(
            """\
            import os
            import torch
            import torch.distributed as dist

            local_rank = int(os.environ["LOCAL_RANK"])
            torch.cuda.set_device(local_rank)
            dist.init_process_group("nccl")
            x = torch.ones(1).to(local_rank)
            """,
            reason="the local rank is right already",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
            names = [1, 2].index(dist.get_rank())
            """,
            reason="the rank within the host by arithmetic is a device of the host; a list's index is no device",
        ),
        Keep(
            """\
            import torch
            import torch.distributed as dist

            rank = dist.get_rank()
            one = torch.device("cuda:{}".format())
            two = torch.device("cuda:" + rank)
            three = torch.device("cuda:" + str())
            four = torch.device(f"{kind}:{rank}")
            five = torch.device("cpu" + str(rank))
            six = torch.device("meta:{}".format(rank))
            seven = model.to()
            """,
            reason="a text about something else, or the number of something else",
        ),
    ),
)
