"""HVD112: the device of a process is that of its local rank, never of its rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.init.given_devices import asks_for_it, chosen_alone, only_given
from hvdkit.migrate.facts.launch.device_numbers import (
    FIRST_DEVICE,
    SET_DEVICE,
    device_numbers,
    first_devices,
    goes_elsewhere,
    in_text,
    is_taken_by_number,
    ranks_for_devices,
    spread,
    told_numbers,
    visible_devices,
)
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_of
from hvdkit.migrate.facts.programs.reached_code import on_import, only_single, runs_in
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.value import Value
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    ranks = ranks_for_devices(facts)
    for names, index in dict.fromkeys(device_numbers(facts)):
        text = f"{horovod_name(facts, names)}.local_rank()"
        if index in ranks:
            message = f"the rank counts over all hosts, devices count on each: {text}"
        elif _is_first(index) and only_single(facts, names):
            message = f"every process of a host would work on its first device: {text}"
        else:
            continue
        yield safe(facts, "HVD112", names, index, message, edits.replace, names.source, index, text)
    for value in sorted(first_devices(facts), key=lambda value: value.node.lineno):  # type: ignore[attr-defined]
        message = "every process of a host would work on its first device"
        if is_taken_by_number(facts, value):
            make = (_numbered_device, facts, value)
            yield safe(facts, "HVD112", value.names, value.node, message, *make)
        else:
            yield safe(facts, "HVD112", value.names, value.node, message, _own_device, value)
    for site in facts.calls(SET_DEVICE):
        if site.node.args and "ddp" in kinds_of(facts, site.names) and only_given(facts, site):
            message = (
                "the device is an option of the command line, and horovodrun passes the same value to every "
                "process"
            )
            advice = f"call torch.cuda.set_device({horovod_name(facts, site.names)}.local_rank()), whatever the option's value"
            if chosen_alone(facts, site):
                make_local = (_local, facts, site)
                yield safe(facts, "HVD112", site.names, site.node, message, *make_local)
            else:
                yield manual("HVD112", site.names, site.node, message, advice)
    yield from _alike(facts)


def _alike(facts: Facts) -> Iterator[Finding]:
    """Devices that a script of one process is given, and that all processes of a job would get."""
    for names, node in visible_devices(facts):
        message = "every process of a host would see these devices alone"
        advice = (
            f"leave it out, and let torch.cuda.set_device({horovod_name(facts, names)}.local_rank()) "
            "choose: which devices a job may see is set where it is started"
        )
        statement = names.statement(node)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            make = needed if _runs_alone(facts, names, node) else safe
            yield make(facts, "HVD112", names, node, message, edits.delete, names, statement)
        else:
            yield manual("HVD112", names, node, message, advice)
    for names in (names for names in facts.files if only_single(facts, names)):
        for device in spread(names)[:1]:
            message = (
                "one process uses several devices here, and all processes of a host would use the same ones"
            )
            advice = "use one device per process, or assign each process its own devices by its local rank"
            yield manual("HVD112", names, device, message, advice)
    for names, node in dict.fromkeys(told_numbers(facts)):
        hvd = horovod_name(facts, names)
        message = "every process of a host would use this device, since all of them are given the same one"
        advice = f"use {hvd}.local_rank() for it; {hvd}.init() and torch.cuda.set_device() come before"
        if _runs_alone(facts, names, node) or on_import(facts, names, node) or goes_elsewhere(facts, names):
            yield manual("HVD112", names, node, message, advice)
        else:
            local = f"{hvd}.local_rank()"
            yield safe(facts, "HVD112", names, node, message, _numbered, names, node, local)


def _runs_alone(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a program that trains nothing comes to a node, as one process: its device is its user's choice."""
    return any(p.kind == "none" and runs_in(facts, p, names, node) for p in programs_of(facts))


def _numbered(names: Names, node: ast.expr, number: str) -> Edit:
    """A number in the place of another one, or of a whole text `"cuda:{}".format(n)`."""
    text = next((found for _, found in in_text(names, node)), None)
    return edits.replace(names.source, text if text is not None else node, number)


def _numbered_device(facts: Facts, value: Value) -> Edit:
    text = f'f"cuda:{{{horovod_name(facts, value.names)}.local_rank()}}"'
    return edits.replace(value.names.source, value.node, text)


def _own_device(value: Value) -> Edit:
    """cuda, which is the device that a process took."""
    source = value.names.source
    return edits.replace(source, value.node, source.segment(value.node).replace(FIRST_DEVICE, "cuda"))


def _local(facts: Facts, site: Site) -> list[Edit]:
    """The device of the local rank, whether the option is given or not."""
    names, source = site.names, site.names.source
    option = next(part for part in ast.walk(site.node.args[0]) if isinstance(part, ast.Attribute))
    asked = asks_for_it(names, names.statement(site.node), option)
    made = [edits.replace(source, site.node.args[0], f"{horovod_name(facts, names)}.local_rank()")]
    if asked is not None and isinstance(site.node.func, ast.Attribute):
        made.append(edits.replace(source, asked.test, f"{ast.unparse(site.node.func.value)}.is_available()"))
    return made


def _is_first(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and not isinstance(index.value, bool)


RULE = Rule(
    id="HVD112",
    title="each rank takes the device of its local rank",
    what=(
        "Replaces the global rank by hvd.local_rank() where it is used as a device number, and in a script "
        "that was single-process device 0, too."
    ),
    why=(
        "On the second host, rank 8 has no device 8. Scripts for one host use both interchangeably, and "
        "break on a second host. And every process of a host would use the one device that the script names."
    ),
    safety=(
        "Safe: on one host rank and local rank are the same, for one process 0; on several hosts only the "
        "local rank is a device. The same holds where an option sets which device a process uses or sees: "
        "all processes of a host are given the same one. Needed in a program that is also run alone."
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
        ),
    ),
    keeps=(
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
            reason="no device, a device that is already chosen, and a test of each of them",
        ),
    ),
)
