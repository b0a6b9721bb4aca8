"""HVD504: the object collectives become Horovod's, which return what torch puts into lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.collectives import Collective, collectives
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.collectives import Part, at_once, fresh, process_set, same_again, under
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    for call in collectives(facts, *MAKERS):
        make, into, needed, target = MAKERS[call.function]
        problem = call.problem
        if not problem and not {*needed} <= set(call.given):
            problem = "its arguments were not understood"
        elif not problem and call.group is not None and target == "allgather_object":
            problem = "Horovod gathers objects only from all ranks"
        if problem:
            advice = f"use hvd.{target}, which returns the object (or the list of all ranks' objects)"
            yield manual("HVD504", call.names, call.node, f"{call.function} is left: {problem}", advice)
            continue
        message = f"{call.function} becomes {target}, whose result is put into the list"
        yield safe(facts, "HVD504", call.names, call.node, message, make, facts, call, call.given.get(into))


def _broadcast(facts: Facts, call: Collective, into: ast.expr) -> list[Edit]:
    _stable(into)
    source, root = call.names.source, call.given.get("src")
    hvd, name = horovod_name(facts, call.names), source.segment(into)
    sent: list[Part] = [into, f"[:] = {hvd}.broadcast_object({name}, root_rank=", root or "0"]
    return at_once(call, [*sent, *process_set(call), ")"])


def _all_gather(facts: Facts, call: Collective, into: ast.expr) -> list[Edit]:
    _stable(into)
    gathered = _gathered(facts, call, into)
    return at_once(call, [into, "[:] = ", *gathered])


def _gather(facts: Facts, call: Collective, into: ast.expr | None) -> list[Edit]:
    if into is None:
        return at_once(call, _gathered(facts, call, call.given["obj"]))
    target: ast.expr = into
    asked: list[Part] = [into, " is not None"]
    if isinstance(into, ast.IfExp) and isinstance(into.orelse, ast.Constant) and into.orelse.value is None:
        target, asked = into.body, [into.test]
    _stable(target)
    names = call.names
    everything = fresh(names, "objects")
    outer = under(names, call.statement).removesuffix(names.source.unit)
    inner = under(names, call.statement)
    assigned = f":{inner}{names.source.segment(target)}[:] = {everything}"
    gathered = _gathered(facts, call, target)
    return at_once(call, [f"{everything} = ", *gathered, f"{outer}if ", *asked, assigned])


def _scatter(facts: Facts, call: Collective, into: ast.expr) -> list[Edit]:
    _stable(into)
    hvd, root = horovod_name(facts, call.names), call.given.get("src")
    sent: list[Part] = [into, f"[0] = {hvd}.broadcast_object(", call.given["scatter_object_input_list"]]
    sent += [", root_rank=", root or "0", f', name="{_name(call, into)}"', *process_set(call)]
    return at_once(call, [*sent, f")[{hvd}.rank()]"])


def _gathered(facts: Facts, call: Collective, named: ast.expr) -> list[Part]:
    """Horovod names an object's transfer by its type: with None on some ranks they would wait for ever."""
    hvd = horovod_name(facts, call.names)
    return [f"{hvd}.allgather_object(", call.given["obj"], f', name="{_name(call, named)}")']


def _name(call: Collective, node: ast.expr) -> str:
    """A name for the transfer, the same on all ranks: the variable's."""
    last = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    return next((getattr(part, "attr", "") or getattr(part, "id", "") for part in last), call.function)


def _stable(into: ast.expr) -> None:
    if not same_again(into):
        raise edits.CannotEdit("its list is an expression that must not be evaluated twice")


# function: what makes the edits, the list's parameter, what must be given, Horovod's function
MAKERS = {
    "broadcast_object_list": (_broadcast, "object_list", ("object_list",), "broadcast_object"),
    "all_gather_object": (_all_gather, "object_list", ("object_list", "obj"), "allgather_object"),
    "gather_object": (_gather, "object_gather_list", ("obj",), "allgather_object"),
    "scatter_object_list": (
        _scatter,
        "scatter_object_output_list",
        ("scatter_object_output_list", "scatter_object_input_list"),
        "broadcast_object",
    ),
}


RULE = Rule(
    id="HVD504",
    title="object collectives",
    what=(
        "Replaces broadcast_object_list, all_gather_object, gather_object and scatter_object_list by "
        "hvd.broadcast_object and hvd.allgather_object."
    ),
    why="There is no longer a process group, and Horovod returns what torch stores in a list.",
    safety=(
        "Safe: the same objects in the same lists. The transfer is given a name: Horovod would name it "
        "by the object's type, and ranks that pass different types would block forever."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch.distributed as dist

            box = [config] if rank == 0 else [None]
            dist.broadcast_object_list(box, src=0, device=device)
            """,
            """\
            import horovod.torch as hvd

            box = [config] if rank == 0 else [None]
            box[:] = hvd.broadcast_object(box, root_rank=0)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            results = hvd.allgather_object(scores)
            """,
            reason="it is Horovod's already",
        ),
    ),
)
