"""HVD101: init_process_group becomes hvd.init(), above whatever needs a rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.init.init_order import init_order
from hvdkit.migrate.facts.launch.launch import INIT_ARGUMENTS, launch_of
from hvdkit.migrate.facts.launch.launch_order import StartPlace
from hvdkit.migrate.facts.launch.launch_reach import TRUE_CALLS
from hvdkit.migrate.facts.launch.library_groups import libraries_needing
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in, starting_sites
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import device_lines
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

# Arguments that asked for something that Horovod has elsewhere, or not at all.
SAID = {
    "timeout": "its timeout is HOROVOD_GLOO_TIMEOUT_SECONDS (start) and HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
    "store": "its store is not used",
    "pg_options": "its pg_options have no counterpart",
}

SKIPPED = "a rank is read before this function is called: Horovod starts there, and this would no longer run"
PASSED_BY = (
    "Horovod starts above this test, where a rank is read or ranks are started: a group exists by now, and "
    "the code for the case without one would no longer run"
)
TAKE_AWAY = "remove the test, and keep its body so that each process runs it once"
WHERE_TO_CALL = "call this function before anything reads a rank, and run hvdkit migrate again"


def check(facts: Facts) -> Iterator[Finding]:
    if not launch_of(facts).inits:
        return
    order = init_order(facts)
    placed: set[StartPlace] = set()
    for site in launch_of(facts).inits:
        place = order.own_place(site.names, site.node)
        inserted = None if place in placed else place
        if place is not None:
            placed.add(place)
        gone = place is not None or order.covers(site.names, site.node)
        skipped = order.left_out(site.names, site.node)
        if skipped is not None:
            yield refused("HVD101", site.names, skipped, SKIPPED, WHERE_TO_CALL)
        asked = order.passed_by(site.names, site.node)
        if asked is not None:
            yield manual("HVD101", site.names, asked, PASSED_BY, TAKE_AWAY)
        message = "init_process_group becomes hvd.init(); the launcher gives rank, size and addresses"
        stays = facts.options.allows("HVD115") and libraries_needing(facts, site)
        make = _above if stays else _edits
        finding = safe(facts, "HVD101", site.names, site.node, message, make, facts, site, inserted, gone)
        yield finding.knowing(_said(site.node))
    for place in order.places:
        if place not in placed:
            message = "ranks are read here before the process group was made: Horovod starts first"
            yield safe(facts, "HVD101", place.names, place.statement, message, _insert, facts, place)


def _said(call: ast.Call) -> str:
    given = {*INIT_ARGUMENTS[: len(call.args)], *(item.arg for item in call.keywords)}
    return "; ".join(text for name, text in SAID.items() if name in given)


def _edits(facts: Facts, site: Site, place: StartPlace | None, gone: bool) -> list[Edit]:
    names, statement = site.names, site.names.statement(site.node)
    inserted = [_insert(facts, place)] if place is not None else []
    if gone and isinstance(statement, ast.Expr) and statement.value is site.node:
        return [*inserted, edits.delete(names, _emptied(facts, names, statement))]
    return [*inserted, edits.replace(names.source, site.node, f"{horovod_name(facts, names)}.init()")]


def _above(facts: Facts, site: Site, place: StartPlace | None, gone: bool) -> list[Edit]:
    """hvd.init() above a process group that libraries need (HVD115)."""
    if place is not None:
        return [_insert(facts, place)]
    statement = site.names.statement(site.node)
    start = f"{horovod_name(facts, site.names)}.init()"
    return [] if gone else [edits.before(site.names.source, statement, [start])]


def _emptied(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt:
    """The statement to delete: with its last statement an `if` goes, too, when its test does nothing."""
    parent = names.parents[statement]
    if not isinstance(parent, ast.If) or parent.body != [statement] or parent.orelse:
        return statement
    calls = [part for part in ast.walk(parent.test) if isinstance(part, ast.Call)]
    asks = all(any(name in TRUE_CALLS for name in facts.flow.qualified(names, call.func)) for call in calls)
    return _emptied(facts, names, parent) if asks and not names.source.is_elif(parent) else statement


def _insert(facts: Facts, place: StartPlace) -> Edit:
    verb = edits.after if place.after else edits.before
    lines = [f"{horovod_name(facts, place.names)}.init()"]
    if _without_device(facts, place):
        lines += device_lines(facts, place.names)
    return verb(place.names.source, place.statement, lines)


def _without_device(facts: Facts, place: StartPlace) -> bool:
    """Whether a place is at the start of a script that trains, and that never comes to what sets its device."""
    if place.names.function(place.statement) is not None:
        return False
    pins = facts.calls("torch.cuda.set_device")
    return any(
        program.entry is place.names
        and training_paths(facts, program)
        and not starting_sites(facts, program)
        and not any(runs_in(facts, program, pin.names, pin.node) for pin in pins)
        for program in programs_of(facts)
    )


RULE = Rule(
    id="HVD101",
    title="init_process_group becomes hvd.init()",
    what=(
        "Replaces torch.distributed.init_process_group(...) by hvd.init(), and puts hvd.init() above the "
        "first line that needs a rank, in whichever function or file that is."
    ),
    why=(
        "Horovod's launcher passes every process its rank and how to reach the others. Backend, "
        "init_method, rank, world_size and store have no meaning there: Horovod's operations were chosen "
        "when it was built. And Horovod knows no rank before hvd.init(), whereas torchrun sets it in the "
        "environment from the start."
    ),
    safety="Safe: hvd.init() may be called more than once, and nothing else of the script reads the process group.",
    check=check,
    changes=(
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
    ),
    keeps=(
        Keep(
            """\
            def init_process_group(backend):
                return backend

            init_process_group("nccl")
            """,
            reason="the script's own function of that name is not torch's",
        ),
    ),
)
