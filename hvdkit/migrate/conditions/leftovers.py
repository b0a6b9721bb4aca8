"""The row that no DDP, DataParallel or process group is left beside Horovod."""

from __future__ import annotations

from hvdkit.migrate.conditions.answers import Answer, open_at, places
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.models.wraps import chosen_wraps, own_data_parallel
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import State
from hvdkit.migrate.values import vocabulary as words


def leftovers(facts: Facts, program: ProgramFacts) -> Answer:
    """What torch's own distribution would still do in a program."""
    calls = facts.calls("torch.distributed.", *words.WRAPS)
    sites = [s for s in calls if s.names in program.files and s.name not in words.ASK_NO_GROUP]
    sites = [s for s in sites if not call_graph(facts).in_dead_code(s.names, s.node)]
    if sites:
        called = ", ".join(sorted({site.name.rpartition(".")[2] for site in sites}))
        return open_at(f"{called} at {{}}", sites)
    by_hand = [(site.names, site.node) for site in facts.calls(*words.SPREADING)]
    by_hand = [at for at in (*by_hand, *own_data_parallel(facts)) if runs_in(facts, program, *at)]
    if by_hand:
        return open_at("the model runs on all GPUs of the host, and every rank would, at {}", by_hand)
    chosen = [(names, call) for names, call in chosen_wraps(facts) if names in program.files]
    if chosen:
        return open_at("DistributedDataParallel, if it is chosen, at {}", chosen)
    kept = [site for site in facts.calls(words.OWN_GROUP) if site.names in program.files]
    if kept:
        return Answer(
            State.PROVEN,
            f"only the process group of Horovod's ranks that libraries ask at {places(kept)}",
        )
    return Answer(State.PROVEN, "no call of torch.distributed, DDP or DataParallel")
