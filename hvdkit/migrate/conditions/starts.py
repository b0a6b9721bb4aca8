"""The post-condition of every program, also of one that trains nothing: whoever calls Horovod starts it."""

from __future__ import annotations

from hvdkit.migrate.conditions.answers import Answer, open_at, places
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.init.early_calls import early_calls
from hvdkit.migrate.facts.launch.jobs_only import in_jobs_only
from hvdkit.migrate.facts.launch.which_processes import caught
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import is_started, runs_in, starting_sites
from hvdkit.migrate.plan import State
from hvdkit.migrate.values import vocabulary as words

STARTS_ITSELF = "every program that calls Horovod starts it"


def starts_itself(facts: Facts, program: ProgramFacts) -> Answer:
    """Whether a program starts Horovod, or calls it in jobs of several processes alone."""
    unguarded = [
        site
        for site in _calls(facts, program)
        if not in_jobs_only(facts, site.names, site.node) and not caught(site.names, site.node)
    ]
    if not unguarded:
        return Answer(State.NONE, "no single-process program calls Horovod")
    started = [site for site in starting_sites(facts, program) if site.name in words.HVD_INIT]
    if not started:
        name = program.entry.source.path.name
        detail = f"{name} reaches Horovod at {{}} and never calls hvd.init(): call it first in {name}"
        return open_at(detail, unguarded)
    early = early_calls(facts, program, unguarded)
    if early:
        return open_at("Horovod is called at {}, above hvd.init()", early)
    return Answer(State.PROVEN, f"hvd.init() at {places(started)}")


def _calls(facts: Facts, program: ProgramFacts) -> list[Site]:
    """The calls of Horovod that a program may come to, and that fail where it does not run."""
    if not facts.project.uses_framework or not (program.kind != "none" or is_started(facts, program.entry)):
        return []
    return [
        site
        for site in facts.calls(*(f"{module}." for module in words.HOROVOD))
        if words.NEEDS_NO_START.fullmatch(site.name.rpartition(".")[2]) is None
        and site.names in program.files
        and runs_in(facts, program, site.names, site.node)
    ]
