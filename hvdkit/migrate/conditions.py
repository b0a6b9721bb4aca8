"""The post-conditions of a migrated program, each proven from the facts of the rewritten text, or open."""

from __future__ import annotations

from pathlib import Path

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.programs import ProgramFacts
from hvdkit.migrate.facts.writers import unguarded_writers
from hvdkit.migrate.plan import Condition, State


def conditions(facts: Facts, entry: Path) -> tuple[Condition, ...]:
    """The table for the program that starts with a file."""
    program = next((p for p in facts.programs if p.entry.source.path == entry), None)
    if program is None:
        return ()
    checks = (_init, _sharded, _set_epoch, _optimizer, _broadcast, _writers, _leftovers)
    return tuple(check(facts, program) for check in checks)


def _row(name: str, problem: str, detail: str) -> Condition:
    return Condition(name, State.OPEN if problem else State.PROVEN, problem or detail)


def _init(facts: Facts, program: ProgramFacts) -> Condition:
    sites = [site for site in facts.calls(*words.HVD_INIT) if site.names in program.files]
    where = ", ".join(f"{s.names.source.path.name}:{s.node.lineno}" for s in sites)
    return _row(
        "Horovod is initialised", "" if sites else "no hvd.init() was found", f"hvd.init() at {where}"
    )


def _sharded(facts: Facts, program: ProgramFacts) -> Condition:
    name = "training data is sharded by rank"
    training = [o for o in facts.loaders if o.names in program.files and facts.training(o)]
    if not training:
        return Condition(name, State.OPEN, "no DataLoader was found in a loop with a backward pass")
    open_ = [
        f"{loader.names.source.path.name}:{loader.node.lineno}"
        for loader in training
        if not facts.sharded(loader) and not _wrapped(facts, loader.value)
    ]
    return _row(name, f"not shown for {', '.join(open_)}" if open_ else "", f"{len(training)} loader(s)")


def _wrapped(facts: Facts, value: object) -> bool:
    return any(
        value in facts.flow.values(site.names, site.node.args[0])
        for site in facts.calls("hvdkit.torch.distribute")
        if site.node.args
    )


def _set_epoch(facts: Facts, program: ProgramFacts) -> Condition:
    name = "each epoch has its own order (set_epoch)"
    calls = [call for names, call, _ in facts.methods("set_epoch") if names in program.files]
    return _row(name, "" if calls else "no set_epoch call was found", f"{len(calls)} call(s)")


def _optimizer(facts: Facts, program: ProgramFacts) -> Condition:
    name = "every optimizer averages its gradients"
    mine = [o for o in facts.optimizers if o.names in program.files]
    open_ = [f"{o.names.source.path.name}:{o.node.lineno}" for o in mine if not o.wrapped]
    if not mine:
        return Condition(name, State.OPEN, "no optimizer was found")
    return _row(
        name, f"not wrapped: {', '.join(open_)}" if open_ else "", f"{len(mine)} optimizer(s) wrapped"
    )


def _broadcast(facts: Facts, program: ProgramFacts) -> Condition:
    name = "all ranks start from rank 0's weights"
    sites = [site for site in facts.calls(*words.HVD_BROADCAST) if site.names in program.files]
    where = ", ".join(f"{s.names.source.path.name}:{s.node.lineno}" for s in sites)
    return _row(name, "" if sites else "no broadcast of the model was found", f"broadcast at {where}")


def _writers(facts: Facts, program: ProgramFacts) -> Condition:
    name = "files are written by rank 0 only"
    open_ = [
        f"{w.names.source.path.name}:{w.node.lineno}"
        for w in unguarded_writers(facts)
        if w.names in program.files
    ]
    return _row(name, f"every rank writes at {', '.join(open_)}" if open_ else "", "torch.save is guarded")


def _leftovers(facts: Facts, program: ProgramFacts) -> Condition:
    name = "no DDP, DataParallel or process group is left"
    sites = [s for s in facts.calls("torch.distributed.", *words.WRAPS) if s.names in program.files]
    open_ = [f"{s.name.rpartition('.')[2]} at {s.names.source.path.name}:{s.node.lineno}" for s in sites]
    return _row(name, ", ".join(open_), "none found")
